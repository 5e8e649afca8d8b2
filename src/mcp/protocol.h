#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"
#include "mcp/tool.h"

// The words and numbers of the protocol that more than one file needs.
namespace belljar::mcp {

// Revisions are dates, so they are ordered as text. The legacy ones begin with a handshake
// (`initialize`) and keep state per connection; in the modern one every request describes itself.
inline constexpr std::string_view kLegacyVersions[] = {"2024-11-05", "2025-03-26", "2025-06-18",
                                                       "2025-11-25"};
inline constexpr std::string_view kNewestLegacy = "2025-11-25";
inline constexpr std::string_view kModern = "2026-07-28";

// JSON-RPC batches: one revision has them.
inline constexpr std::string_view kBatchVersion = "2025-03-26";
inline constexpr size_t kMaxBatch = 100;

inline bool is_modern(std::string_view version) {
  return version >= kModern;
}

// Keys of `_meta`.
inline constexpr std::string_view kMetaVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kMetaClientInfo = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kMetaLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view kMetaServerInfo = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kMetaSubscription = "io.modelcontextprotocol/subscriptionId";
inline constexpr std::string_view kMetaRequestId = "belljar/requestId";  // our own, in results

// An extension of the modern era.
inline constexpr std::string_view kTasksExtension = "io.modelcontextprotocol/tasks";

// Codes of JSON-RPC errors.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kLegacyResourceNotFound = -32002;
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kMissingCapability = -32021;
inline constexpr int kUnsupportedVersion = -32022;

// "warning" and its seven siblings; nothing for another word.
std::optional<LogLevel> parse_log_level(std::string_view name);
std::string_view name_of(LogLevel level);

// The `_meta` of a request's parameters, or nullptr.
const json::object* find_meta(const json::object& params);

// The `_meta.progressToken`, if it has a legal type (string or integer; 0 and "" are legal).
std::optional<json::value> progress_token(const json::object& params);

}  // namespace belljar::mcp
