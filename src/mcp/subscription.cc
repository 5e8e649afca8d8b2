#include "mcp/subscription.h"

#include "mcp/modern.h"
#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

json::object meta_of(const Subscription& subscription) {
  json::object meta;
  meta.emplace(kMetaSubscription, subscription.id);
  return meta;
}

std::string_view method_for(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::tools: return "notifications/tools/list_changed";
    case Change::Kind::prompts: return "notifications/prompts/list_changed";
    case Change::Kind::resources: return "notifications/resources/list_changed";
    case Change::Kind::resource: break;
  }
  return "notifications/resources/updated";
}

bool is_true(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

}  // namespace

bool Subscription::wants(const Change& change) const {
  switch (change.kind) {
    case Change::Kind::tools: return tools;
    case Change::Kind::prompts: return prompts;
    case Change::Kind::resources: return resources;
    case Change::Kind::resource: break;
  }
  return uris.contains(change.uri);
}

std::variant<Subscription, RpcError> read_subscription(const Server& server, Id id,
                                                       const json::object& params, Send send) {
  const json::object* wanted = find_object(params, "notifications");
  if (wanted == nullptr) return RpcError{kInvalidParams, "notifications must be an object"};
  const bool has_resources = !server.resources().empty();
  Subscription subscription;
  subscription.id = std::move(id);
  subscription.send = std::move(send);
  subscription.tools = is_true(*wanted, "toolsListChanged") && !server.tools().empty();
  subscription.prompts = is_true(*wanted, "promptsListChanged") && !server.prompts().empty();
  subscription.resources = is_true(*wanted, "resourcesListChanged") && has_resources;
  const json::value* uris = find(*wanted, "resourceSubscriptions");
  if (uris == nullptr || uris->is_null()) return subscription;
  RpcError not_strings{kInvalidParams, "resourceSubscriptions must be a list of strings"};
  if (!uris->is_array()) return not_strings;
  for (const json::value& uri : uris->get_array()) {
    if (!uri.is_string()) return not_strings;
    if (has_resources) subscription.uris.emplace(uri.get_string());
  }
  return subscription;
}

Outgoing make_acknowledgement(const Subscription& subscription) {
  json::object covered;
  if (subscription.tools) covered.emplace("toolsListChanged", true);
  if (subscription.prompts) covered.emplace("promptsListChanged", true);
  if (subscription.resources) covered.emplace("resourcesListChanged", true);
  if (!subscription.uris.empty()) {
    json::array uris;
    for (const std::string& uri : subscription.uris) uris.emplace_back(uri);
    covered.emplace("resourceSubscriptions", std::move(uris));
  }
  json::object params;
  params.emplace("_meta", meta_of(subscription));
  params.emplace("notifications", std::move(covered));
  return make_notification("notifications/subscriptions/acknowledged", std::move(params));
}

Outgoing make_farewell(const Subscription& subscription, const Server& server) {
  json::object result;
  result.emplace("_meta", meta_of(subscription));
  complete_result(result, "subscriptions/listen", server);
  return make_result(subscription.id, std::move(result));
}

Outgoing make_notice(const Change& change) {
  if (change.kind != Change::Kind::resource) return make_notification(method_for(change.kind));
  return make_notification(method_for(change.kind), json::object{{"uri", change.uri}});
}

Outgoing make_notice(const Change& change, const Subscription& subscription) {
  json::object params;
  params.emplace("_meta", meta_of(subscription));
  if (change.kind == Change::Kind::resource) params.emplace("uri", change.uri);
  return make_notification(method_for(change.kind), std::move(params));
}

}  // namespace belljar::mcp
