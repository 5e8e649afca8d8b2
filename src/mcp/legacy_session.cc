#include "mcp/legacy_session.h"

#include <algorithm>

#include "mcp/protocol.h"

namespace belljar::mcp {

std::optional<Reply> LegacySession::answer(const std::string& method, const json::object& params) {
  if (method == "initialize") return initialize(params);
  if (method == "ping") return json::object{};
  if (method == "logging/setLevel") return set_level(params);
  if (server_.resources().empty()) return std::nullopt;
  if (method == "resources/subscribe") return subscribe(params);
  if (method == "resources/unsubscribe") return unsubscribe(params);
  return std::nullopt;
}

std::string LegacySession::version() const {
  return negotiated_.empty() ? std::string{kNewestLegacy} : negotiated_;
}

bool LegacySession::wants(const Change& change) const {
  if (!initialized_) return false;
  return change.kind != Change::Kind::resource || watched_.contains(change.uri);
}

void LegacySession::add_interest(ResourceInterest& interest) const {
  interest.list |= listed_;
  interest.uris.insert(watched_.begin(), watched_.end());
}

Reply LegacySession::initialize(const json::object& params) {
  const json::string* requested = find_string(params, "protocolVersion");
  if (requested == nullptr) return RpcError{kInvalidParams, "protocolVersion must be a string"};
  // A version we do not have is answered with one that we have; the client decides whether to go
  // on.
  const auto* known = std::ranges::find(kLegacyVersions, std::string_view{*requested});
  negotiated_ = known != std::end(kLegacyVersions) ? *known : kNewestLegacy;
  const json::object* capabilities = find_object(params, "capabilities");
  capabilities_ = capabilities != nullptr ? *capabilities : json::object{};
  initialized_ = false;
  json::object result{{"protocolVersion", negotiated_}};
  result.emplace("capabilities", server_.capabilities());
  result.emplace("serverInfo", server_.implementation());
  const std::string& instructions = server_.info().instructions;
  if (!instructions.empty()) result.emplace("instructions", instructions);
  return result;
}

Reply LegacySession::set_level(const json::object& params) {
  const json::string* name = find_string(params, "level");
  const auto level = name != nullptr ? parse_log_level(*name) : std::nullopt;
  if (!level) return RpcError{kInvalidParams, "level must be one of the eight log levels"};
  log_level_ = *level;
  return json::object{};
}

Reply LegacySession::subscribe(const json::object& params) {
  const json::string* uri = find_string(params, "uri");
  if (uri == nullptr) return RpcError{kInvalidParams, "uri must be a string"};
  if (watched_.size() >= server_.options().max_subscriptions) {
    return RpcError{kInternalError, "Too many subscriptions"};
  }
  watched_.emplace(*uri);
  return json::object{};
}

Reply LegacySession::unsubscribe(const json::object& params) {
  const json::string* uri = find_string(params, "uri");
  if (uri == nullptr) return RpcError{kInvalidParams, "uri must be a string"};
  const auto at = watched_.find(std::string_view{*uri});
  if (at != watched_.end()) watched_.erase(at);
  return json::object{};
}

}  // namespace belljar::mcp
