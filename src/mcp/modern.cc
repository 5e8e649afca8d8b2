#include "mcp/modern.h"

#include <fmt/format.h>

#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

RpcError bad_envelope(std::string_view what, std::string_view key) {
  return RpcError{kInvalidParams, fmt::format("Invalid params: _meta {} {}", what, key)};
}

bool is_implementation(const json::value& value) {
  const json::object* object = value.if_object();
  return object != nullptr && find_string(*object, "name") != nullptr &&
         find_string(*object, "version") != nullptr;
}

enum class Cache { none, shared, own };

// The lists of what is registered are the same for everybody; resources depend on who asks.
Cache cache_of(std::string_view method) {
  if (method == "server/discover" || method == "tools/list" || method == "prompts/list" ||
      method == "resources/templates/list") {
    return Cache::shared;
  }
  if (method == "resources/list" || method == "resources/read") return Cache::own;
  return Cache::none;
}

}  // namespace

bool claims_modern(const json::object& params) {
  const json::object* meta = find_meta(params);
  return meta != nullptr && meta->contains(kMetaVersion);
}

std::optional<RpcError> check_envelope(const json::object& params) {
  const json::object* meta = find_meta(params);
  const json::value* version = meta != nullptr ? find(*meta, kMetaVersion) : nullptr;
  if (version == nullptr) return bad_envelope("is missing", kMetaVersion);
  if (!version->is_string()) return bad_envelope("has an invalid", kMetaVersion);
  const json::value* capabilities = find(*meta, kMetaCapabilities);
  if (capabilities == nullptr) return bad_envelope("is missing", kMetaCapabilities);
  if (!capabilities->is_object()) return bad_envelope("has an invalid", kMetaCapabilities);
  const json::value* client = find(*meta, kMetaClientInfo);
  if (client != nullptr && !is_implementation(*client)) {
    return bad_envelope("has an invalid", kMetaClientInfo);
  }
  const json::value* level = find(*meta, kMetaLogLevel);
  if (level != nullptr && (!level->is_string() || !parse_log_level(level->get_string()))) {
    return bad_envelope("has an invalid", kMetaLogLevel);
  }
  return std::nullopt;
}

std::optional<RpcError> check_version(const json::object& params) {
  const json::string& version = *find_string(*find_meta(params), kMetaVersion);
  if (version == kModern) return std::nullopt;
  json::object data;
  data.emplace("supported", json::array{kModern});
  data.emplace("requested", version);
  return RpcError{kUnsupportedVersion, "Unsupported protocol version", std::move(data)};
}

std::optional<LogLevel> requested_log_level(const json::object& params) {
  const json::string* level = find_string(*find_meta(params), kMetaLogLevel);
  return level != nullptr ? parse_log_level(*level) : std::nullopt;
}

const json::object& declared_capabilities(const json::object& params) {
  return *find_object(*find_meta(params), kMetaCapabilities);
}

json::object discover(const Server& server) {
  json::object result;
  result.emplace("supportedVersions", json::array{kModern});
  json::object capabilities = server.capabilities();
  if (server.offers_tasks()) {
    json::object extensions;
    extensions.emplace(kTasksExtension, json::object{});
    capabilities.emplace("extensions", std::move(extensions));
  }
  result.emplace("capabilities", std::move(capabilities));
  const std::string& instructions = server.info().instructions;
  if (!instructions.empty()) result.emplace("instructions", instructions);
  return result;
}

void complete_result(json::object& result, std::string_view method, const Server& server) {
  const bool complete = result.emplace("resultType", "complete").second;
  const Cache cache = complete ? cache_of(method) : Cache::none;
  if (cache != Cache::none) {
    const bool shared = cache == Cache::shared;
    result.emplace("ttlMs", shared ? server.options().list_ttl_ms : int64_t{0});
    result.emplace("cacheScope", shared ? "public" : "private");
  }
  json::value& meta = result["_meta"];
  if (!meta.is_object()) meta.emplace_object();
  meta.as_object()[kMetaServerInfo] = server.implementation();
}

}  // namespace belljar::mcp
