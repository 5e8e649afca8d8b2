#include "mcp/protocol.h"

#include <array>

#include "mcp/message.h"

namespace belljar::mcp {

namespace {

constexpr std::array<std::string_view, 8> kLevels = {"debug", "info",     "notice", "warning",
                                                     "error", "critical", "alert",  "emergency"};

}  // namespace

std::optional<LogLevel> parse_log_level(std::string_view name) {
  for (size_t i = 0; i < kLevels.size(); ++i) {
    if (kLevels[i] == name) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

std::string_view name_of(LogLevel level) {
  return kLevels[static_cast<size_t>(level)];
}

const json::object* find_meta(const json::object& params) {
  return find_object(params, "_meta");
}

std::optional<json::value> progress_token(const json::object& params) {
  const json::object* meta = find_meta(params);
  const json::value* token = meta != nullptr ? find(*meta, "progressToken") : nullptr;
  return token != nullptr ? read_id(*token) : std::nullopt;
}

}  // namespace belljar::mcp
