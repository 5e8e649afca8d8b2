#include "mcp/content.h"

#include <fmt/format.h>

#include <string>

#include "mcp/tool.h"

namespace belljar::mcp {

namespace {

std::string_view text_of(const json::object& object, std::string_view key) {
  const json::string* text = find_string(object, key);
  return text != nullptr ? std::string_view{*text} : std::string_view{};
}

json::object link_as_text(const json::object& link) {
  const std::string_view title = text_of(link, "title");
  const std::string_view name = title.empty() ? text_of(link, "name") : title;
  std::string text = fmt::format("{}: {}", name, text_of(link, "uri"));
  const std::string_view description = text_of(link, "description");
  if (!description.empty()) text += fmt::format(" ({})", description);
  return text_block(text);
}

json::object audio_as_text(const json::object& audio) {
  return text_block(fmt::format("[{} left out: this client's protocol version has no audio]",
                                text_of(audio, "mimeType")));
}

}  // namespace

void adapt_block(json::value& block, std::string_view version) {
  const json::object* object = block.if_object();
  if (object == nullptr) return;
  const std::string_view type = text_of(*object, "type");
  if (type == "resource_link" && version < "2025-06-18") block = link_as_text(*object);
  if (type == "audio" && version < "2025-03-26") block = audio_as_text(*object);
}

void adapt_blocks(json::array& blocks, std::string_view version) {
  for (json::value& block : blocks) adapt_block(block, version);
}

}  // namespace belljar::mcp
