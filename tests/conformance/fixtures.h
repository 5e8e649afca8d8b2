#pragma once

#include <string>
#include <string_view>

#include "mcp/server.h"
#include "mcp/testing.h"

// What the conformance suite expects of a server, feature by feature. Names and texts are the
// suite's.
namespace belljar::mcp {

void add_tools(Server& server);
void add_input_tools(Server& server);
void add_task_tools(Server& server);
void add_prompts_and_resources(Server& server);

inline constexpr const char* kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg"
    "==";

inline json::object parse_object(std::string_view text) {
  return json::parse(text).as_object();
}

inline json::object image_block() {
  return json::object{{"type", "image"}, {"data", kPng}, {"mimeType", "image/png"}};
}

inline json::object resource_block(std::string_view uri, std::string_view type,
                                   std::string_view text) {
  json::object block{{"type", "resource"}};
  block.emplace("resource", text_contents(uri, type, text));
  return block;
}

inline ToolResult text_result(std::string_view text) {
  ToolResult result;
  result.content.emplace_back(text_block(text));
  return result;
}

inline std::string string_in(const json::object& object, std::string_view key) {
  const json::string* text = find_string(object, key);
  return text != nullptr ? std::string{*text} : "";
}

inline ToolInfo fixture(std::string name, std::string_view schema = "{}") {
  ToolInfo info;
  info.name = std::move(name);
  info.description = "For the conformance suite.";
  info.input_schema = parse_object(schema);
  return info;
}

}  // namespace belljar::mcp
