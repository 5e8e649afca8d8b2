#include "mcp/connection.h"

#include "base/request_context.h"
#include "mcp/answer_request.h"
#include "mcp/call_tasks.h"
#include "mcp/methods.h"
#include "mcp/modern.h"
#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

void refuse(const Send& send, const std::optional<Id>& id, const RpcError& error) {
  send(make_error(id, error, Outgoing::Kind::refusal));
}

RpcError method_not_found() {
  return RpcError{kMethodNotFound, "Method not found"};
}

// The trace that a request names in its _meta counts more than that of the HTTP request around it.
std::string traceparent(const json::object& params) {
  const json::object* meta = find_meta(params);
  const json::string* text = meta != nullptr ? find_string(*meta, "traceparent") : nullptr;
  return text != nullptr && is_traceparent(*text) ? std::string{*text} : "";
}

std::shared_ptr<const RequestContext> with_trace_of(const std::string& trace) {
  const auto& request = current_request();
  if (!request || trace.empty()) return request;
  return std::make_shared<const RequestContext>(RequestContext{request->id, trace});
}

}  // namespace

Connection::Connection(asio::any_io_executor executor, Server& server, std::string owner, Send send)
    : server_{server},
      owner_{std::move(owner)},
      send_{std::move(send)},
      session_{server},
      requests_{executor, send_, server.options().answer_limit},
      tasks_{std::move(executor)} {
  server_.connections_.insert(this);
}

Connection::~Connection() {
  server_.connections_.erase(this);
}

void Connection::handle(std::string_view text) {
  handle(parse_message(text), send_);
}

void Connection::handle(Message message, const Send& send) {
  if (stopped_) return;
  switch (message.kind) {
    case Message::Kind::request: handle_request(std::move(message), send); break;
    case Message::Kind::notification: handle_notification(message); break;
    case Message::Kind::batch: handle_batch(std::move(message.batch), send); break;
    case Message::Kind::invalid: refuse(send, message.id, message.error); break;
    case Message::Kind::response: requests_.answer(std::move(message)); break;
  }
}

void Connection::handle_batch(json::array batch, const Send& send) {
  if (session_.negotiated() != kBatchVersion) {
    return refuse(send, {}, RpcError{kInvalidRequest, "This version has no batches"});
  }
  if (batch.empty() || batch.size() > kMaxBatch) {
    return refuse(send, {}, RpcError{kInvalidRequest, "A batch must have 1 to 100 messages"});
  }
  for (json::value& element : batch) {
    Message message = classify(std::move(element));
    const bool alone = message.method == "initialize" || claims_modern(message.params);
    if (message.kind == Message::Kind::request && alone) {
      refuse(send, message.id, RpcError{kInvalidRequest, "Not allowed inside a batch"});
    } else {
      handle(std::move(message), send);
    }
  }
}

void Connection::handle_notification(const Message& message) {
  if (message.method == "notifications/cancelled") cancel(message.params);
  if (message.method == "notifications/initialized") session_.set_initialized();
}

void Connection::handle_request(Message message, const Send& send) {
  const std::string key = key_of(*message.id);
  if (calls_.contains(key) || subscriptions_.contains(key)) {
    return refuse(send, message.id, RpcError{kInvalidRequest, "This id is already in use"});
  }
  if (claims_modern(message.params)) {
    handle_modern(std::move(message), send);
  } else {
    handle_legacy(std::move(message), send);
  }
}

void Connection::handle_modern(Message message, const Send& send) {
  auto error = check_envelope(message.params);
  if (!error) error = check_version(message.params);
  if (error) return refuse(send, message.id, *error);
  if (message.method == "subscriptions/listen") return listen(std::move(message), send);
  if (send_list(message, ListCache::Era::modern, send)) return;
  if (auto reply = answer_modern_at_once(message)) {
    auto* result = std::get_if<json::object>(&*reply);
    if (result != nullptr) complete_result(*result, message.method, server_);
    return send(make_answer(*message.id, std::move(*reply)));
  }
  if (!is_offered(server_, message.method)) return refuse(send, message.id, method_not_found());
  ActiveCall::Setup setup = setup_for(message, send);
  setup.version = kModern;
  setup.own_level = requested_log_level(message.params);
  setup.capabilities = declared_capabilities(message.params);
  start(std::move(message), std::move(setup));
}

std::optional<Reply> Connection::answer_modern_at_once(const Message& message) const {
  if (message.method == "server/discover") return discover(server_);
  if (server_.offers_tasks()) {
    auto reply = server_.tasks()->answer(message.method, message.params, owner_);
    if (reply) return reply;
  }
  if (!is_offered(server_, message.method)) return std::nullopt;
  return answer_at_once(server_, message.method, message.params);
}

void Connection::handle_legacy(Message message, const Send& send) {
  if (auto reply = session_.answer(message.method, message.params)) {
    send(make_answer(*message.id, std::move(*reply)));
    return note_interest(message.method);
  }
  if (send_list(message, ListCache::Era::legacy, send)) return;
  if (message.method == "server/discover") {
    return refuse(send, message.id, *check_envelope(message.params));
  }
  if (!is_offered(server_, message.method)) return refuse(send, message.id, method_not_found());
  if (auto reply = answer_at_once(server_, message.method, message.params)) {
    return send(make_answer(*message.id, std::move(*reply)));
  }
  ActiveCall::Setup setup = setup_for(message, send);
  setup.version = session_.version();
  setup.connection_level = &session_.log_level();
  setup.capabilities = session_.client_capabilities();
  note_interest(message.method);
  start(std::move(message), std::move(setup));
}

bool Connection::send_list(const Message& message, ListCache::Era era, const Send& send) {
  const std::string* list = server_.lists_.find(server_, message.method, message.params, era);
  if (list != nullptr) send(make_result(*message.id, *list));
  return list != nullptr;
}

void Connection::note_interest(std::string_view method) {
  const bool listed = method == "resources/list";
  if (listed) session_.set_listed();
  if (listed || method == "resources/subscribe" || method == "resources/unsubscribe") {
    server_.interest_changed();
  }
}

ActiveCall::Setup Connection::setup_for(const Message& message, const Send& send) const {
  ActiveCall::Setup setup;
  setup.id = *message.id;
  setup.owner = owner_;
  setup.progress_token = progress_token(message.params);
  setup.send = send;
  return setup;
}

void Connection::start(Message message, ActiveCall::Setup setup) {
  // Counts tasks rather than calls: a cancelled one still uses resources until its task has ended.
  if (tasks_.size() + subscriptions_.size() >= server_.options().max_in_flight) {
    const RpcError error{kInternalError, "Too many requests in flight"};
    return setup.send(make_error(message.id, error, Outgoing::Kind::error));
  }
  const std::string key = key_of(*message.id);
  std::string name = message.method;
  auto call = std::make_shared<ActiveCall>(std::move(setup));
  const std::string trace = traceparent(message.params);
  auto task = serve(call, std::move(message.method), std::move(message.params));
  // The task runs at once up to its first wait, and may have answered when spawn() returns.
  calls_.emplace(key, Running{std::move(call)});
  if (auto request = with_trace_of(trace)) task = in_request(std::move(request), std::move(task));
  const TaskGroup::Id id = tasks_.spawn(std::move(name), std::move(task));
  const auto at = calls_.find(key);
  if (at != calls_.end()) at->second.task = id;
}

Task<> Connection::serve(std::shared_ptr<ActiveCall> call, std::string method,
                         json::object params) {
  Reply reply = co_await answer_request(server_, requests_, method, std::move(params), *call);
  if (call->is_muted())
    co_return;  // cancelled: it has left the table, and its id may be in use again
  calls_.erase(key_of(call->id()));
  auto* result = std::get_if<json::object>(&reply);
  if (result != nullptr && is_modern(call->version())) complete_result(*result, method, server_);
  call->answer(make_answer(call->id(), std::move(reply)));
}

void Connection::cancel(const json::object& params) {
  const json::value* member = find(params, "requestId");
  const std::optional<Id> id = member != nullptr ? read_id(*member) : std::nullopt;
  if (!id) return;
  if (subscriptions_.erase(key_of(*id)) > 0) server_.interest_changed();
  const auto at = calls_.find(key_of(*id));
  if (at == calls_.end()) return;
  const Running running = std::move(at->second);
  calls_.erase(at);
  running.call->withdraw();
  tasks_.cancel(running.task);
}

void Connection::listen(Message message, const Send& send) {
  const bool offered =
      !server_.tools().empty() || !server_.prompts().empty() || !server_.resources().empty();
  if (!offered) return refuse(send, message.id, method_not_found());
  auto parsed = read_subscription(server_, *message.id, message.params, send);
  if (const auto* error = std::get_if<RpcError>(&parsed)) {
    return send(make_error(message.id, *error, Outgoing::Kind::error));
  }
  if (tasks_.size() + subscriptions_.size() >= server_.options().max_in_flight) {
    const RpcError error{kInternalError, "Too many subscriptions"};
    return send(make_error(message.id, error, Outgoing::Kind::error));
  }
  auto& subscription = std::get<Subscription>(parsed);
  send(make_acknowledgement(subscription));
  if (subscription.empty()) return send(make_farewell(subscription, server_));
  subscriptions_.emplace(key_of(*message.id), std::move(subscription));
  server_.interest_changed();
}

void Connection::announce(const Change& change) {
  if (stopped_) return;
  if (session_.wants(change)) send_(make_notice(change));
  for (const auto& [key, subscription] : subscriptions_) {
    if (subscription.wants(change)) subscription.send(make_notice(change, subscription));
  }
}

void Connection::add_interest(ResourceInterest& interest) const {
  if (stopped_) return;
  session_.add_interest(interest);
  for (const auto& [key, subscription] : subscriptions_) {
    interest.list |= subscription.resources;
    interest.uris.insert(subscription.uris.begin(), subscription.uris.end());
  }
}

void Connection::end_subscriptions() {
  const auto ending = std::exchange(subscriptions_, {});
  for (const auto& [key, subscription] : ending) {
    subscription.send(make_farewell(subscription, server_));
  }
}

Task<> Connection::stop() {
  requests_.mute();
  for (const auto& [key, running] : calls_) running.call->mute();
  calls_.clear();
  ResourceInterest interest;
  add_interest(interest);
  subscriptions_.clear();
  stopped_ = true;
  // Most connections over HTTP are one request, and nobody has to look again because of it.
  if (!interest.empty()) server_.interest_changed();
  co_await tasks_.stop();
}

}  // namespace belljar::mcp
