#include "mcp/http_endpoint.h"

#include <algorithm>

#include "base/bytes.h"
#include "mcp/http_headers.h"
#include "mcp/modern.h"
#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

// What SDKs answer with where the specification names no code.
constexpr int kTransportError = -32000;
constexpr int kSessionNotFound = -32001;

constexpr std::string_view kStream = "text/event-stream";

net::HttpAnswer plain_refusal(int status, int code, std::string message) {
  return refusal(status, std::nullopt, RpcError{code, std::move(message)});
}

net::HttpAnswer not_allowed(std::string methods) {
  auto answer = plain_refusal(405, kTransportError, "Method not allowed: use " + methods);
  answer.headers.emplace_back("Allow", std::move(methods));
  return answer;
}

net::HttpAnswer accepted() {
  net::HttpAnswer answer;
  answer.status = 202;
  answer.type = "";
  return answer;
}

net::HttpAnswer unknown_session() {
  return plain_refusal(404, kSessionNotFound, "Session not found: send initialize for a new one");
}

net::HttpAnswer shutting_down() {
  auto answer = plain_refusal(503, kTransportError, "The server is shutting down: try again later");
  answer.headers.emplace_back("Retry-After", "5");
  return answer;
}

Delivery::Form form_for(const net::HttpServerRequest& request) {
  if (!accepts(request, kStream)) return Delivery::Form::json;
  return accepts(request, "application/json") ? Delivery::Form::either : Delivery::Form::stream;
}

bool has(const json::array& batch, bool (*matches)(const json::object& message)) {
  return std::ranges::any_of(batch, [matches](const json::value& element) {
    return element.is_object() && matches(element.get_object());
  });
}

bool is_claim(const json::object& message) {
  const json::object* params = find_object(message, "params");
  return params != nullptr && claims_modern(*params);
}

bool is_initialize(const json::object& message) {
  const json::string* method = find_string(message, "method");
  return method != nullptr && *method == "initialize";
}

// What a message must not be, whatever its session: the error, or nothing.
std::optional<RpcError> check_kind(const Message& message, const net::HttpServerRequest& request) {
  const bool modern = has_modern_header(request);
  switch (message.kind) {
    case Message::Kind::invalid: return message.error;
    case Message::Kind::batch:
      if (modern || has(message.batch, is_claim))
        return RpcError{kInvalidRequest, "This version has no batches"};
      if (has(message.batch, is_initialize))
        return RpcError{kInvalidRequest, "initialize is not allowed inside a batch"};
      return std::nullopt;
    case Message::Kind::response:
      if (modern) return RpcError{kInvalidRequest, "This version has no responses from clients"};
      return std::nullopt;
    case Message::Kind::notification: return std::nullopt;
    case Message::Kind::request: break;
  }
  if (!modern || claims_modern(message.params)) return std::nullopt;
  if (message.method == "initialize")
    return RpcError{kHeaderMismatch,
                    "The header MCP-Protocol-Version names a version that has no initialize"};
  return check_envelope(message.params);
}

// A POST whose body need not be read: the answer to it, or nothing.
std::optional<net::HttpAnswer> refuse_post(const net::HttpServerRequest& request) {
  if (!is_json(request))
    return plain_refusal(415, kTransportError, "Content-Type must be application/json");
  if (accepts(request, "application/json") || accepts(request, kStream)) return std::nullopt;
  return plain_refusal(406, kTransportError,
                       "Accept must name application/json and text/event-stream");
}

bool is_supported(std::string_view version) {
  return std::ranges::find(kLegacyVersions, version) != std::end(kLegacyVersions);
}

}  // namespace

HttpEndpoint::HttpEndpoint(asio::any_io_executor executor, Server& server, std::string owner,
                           HttpEndpointOptions options)
    : executor_{std::move(executor)},
      server_{server},
      owner_{std::move(owner)},
      options_{options},
      clock_{options.clock != nullptr ? *options.clock : system_clock_},
      budget_{.limit = options.streams.max_stored},
      idle_{executor_, std::chrono::steady_clock::time_point::max()},
      expiry_{executor_},
      retiring_{executor_} {}

HttpEndpoint::~HttpEndpoint() = default;

Task<> HttpEndpoint::handle(net::HttpExchange& exchange) {
  if (stopped_) co_return co_await exchange.answer(shutting_down());
  if (active_ >= options_.max_requests) {
    auto answer = plain_refusal(429, kTransportError, "Too many requests at once: try again later");
    answer.headers.emplace_back("Retry-After", "1");
    co_return co_await exchange.answer(std::move(answer));
  }
  ++active_;
  std::exception_ptr fault;
  try {
    co_await dispatch(exchange);
  } catch (...) {
    fault = std::current_exception();
  }
  --active_;
  idle_.cancel();
  if (fault) std::rethrow_exception(fault);
}

Task<> HttpEndpoint::dispatch(net::HttpExchange& exchange) {
  const net::HttpServerRequest& request = exchange.request();
  if (request.method == "POST") return post(exchange);
  const bool legacy = request.method == "GET" || request.method == "DELETE";
  if (legacy && has_modern_header(request)) return exchange.answer(not_allowed("POST"));
  if (!legacy) return exchange.answer(not_allowed("GET, POST, DELETE"));
  return request.method == "GET" ? get(exchange) : remove(exchange);
}

// Everything that is over once a message has arrived is here and in what this calls, and not in
// post(): a stream may be open for days, and keeps whatever its callers hold.
Task<std::unique_ptr<Message>> HttpEndpoint::read_message(net::HttpExchange& exchange) {
  std::unique_ptr<Message> message;
  std::optional<net::HttpAnswer> refused = refuse_post(exchange.request());
  if (!refused) {
    const std::optional<std::string> body = co_await read_body(exchange);
    if (!body) co_return nullptr;
    message = std::make_unique<Message>(parse_message(*body, options_.max_body));
    refused = refuse_message(exchange.request(), *message);
  }
  if (!refused) co_return message;
  co_await exchange.answer(std::move(*refused));
  co_return nullptr;
}

std::optional<net::HttpAnswer> HttpEndpoint::refuse_message(const net::HttpServerRequest& request,
                                                            const Message& message) const {
  auto error = check_kind(message, request);
  const bool modern = message.kind == Message::Kind::request && claims_modern(message.params);
  if (!error && modern) error = check_modern(request, message, server_);
  if (error) return refusal(400, message.id, *error);
  if (modern && draining_ && message.method == "subscriptions/listen") return shutting_down();
  return std::nullopt;
}

Task<> HttpEndpoint::post(net::HttpExchange& exchange) {
  std::unique_ptr<Message> message = co_await read_message(exchange);
  if (message != nullptr) co_await take(exchange, std::move(message));
}

Task<> HttpEndpoint::take(net::HttpExchange& exchange, std::unique_ptr<Message> message) {
  const bool claims = claims_modern(message->params);
  if (message->kind == Message::Kind::request && claims)
    return modern(exchange, std::move(message));
  if (message->kind == Message::Kind::notification &&
      (claims || has_modern_header(exchange.request())))
    return exchange.answer(accepted());
  if (message->kind == Message::Kind::request && message->method == "initialize")
    return initialize(exchange, std::move(*message));
  return legacy(exchange, std::move(*message));
}

Task<std::optional<std::string>> HttpEndpoint::read_body(net::HttpExchange& exchange) {
  try {
    co_return co_await exchange.read_body(options_.max_body);
  } catch (const Error& error) {
    if (error.code() != Code::exhausted) throw;
  }
  co_await exchange.answer(plain_refusal(
      413, kTransportError, "A message may have at most " + format_bytes(options_.max_body)));
  co_return std::nullopt;
}

Task<> HttpEndpoint::modern(net::HttpExchange& exchange, std::unique_ptr<Message> message) {
  EventStream stream{executor_, budget_, options_.streams.max_queued, 0, 1};
  const auto send = [&stream](Outgoing outgoing) {
    if (outgoing.kind != Outgoing::Kind::pause) stream.add(std::move(outgoing));
  };
  Connection connection{executor_, server_, owner_, [](const Outgoing&) {}};
  modern_.emplace(&connection, &stream);
  connection.handle(std::move(*message), send);
  message.reset();
  Delivered delivered = Delivered::none;
  std::exception_ptr fault;
  try {
    Delivery delivery;
    delivery.form = form_for(exchange.request());
    delivered = co_await deliver(exchange, stream, std::move(delivery), options_.streams);
  } catch (...) {
    fault = std::current_exception();
  }
  // What runs refers to what is here, so not even a cancellation may end this wait.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  modern_.erase(&connection);
  co_await connection.stop();
  co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
  if (fault) std::rethrow_exception(fault);
  if (delivered == Delivered::none && stream.is_closed()) co_await exchange.answer(shutting_down());
}

Task<> HttpEndpoint::initialize(net::HttpExchange& exchange, Message message) {
  if (find_session(exchange.request()) != nullptr) {
    const RpcError error{kInvalidRequest, "This session is initialized already"};
    co_return co_await exchange.answer(refusal(400, message.id, error));
  }
  if (draining_) co_return co_await exchange.answer(shutting_down());
  if (!make_room()) {
    const RpcError error{kTransportError, "Too many sessions: end one with DELETE"};
    co_return co_await exchange.answer(refusal(503, message.id, error));
  }
  auto session =
      std::make_shared<HttpSession>(executor_, server_, owner_, budget_, options_.streams);
  session->last_use = clock_.now();
  const HttpSession::Stream stream = session->handle(std::move(message));
  Delivery delivery;
  delivery.form = form_for(exchange.request());
  delivery.modern = false;
  if (session->version().empty()) {  // it was refused
    end_session(session);
  } else {
    delivery.headers.emplace_back("Mcp-Session-Id", session->id());
    sessions_.emplace(session->id(), session);
    if (expiry_.size() == 0) expiry_.spawn("end idle sessions", expire_sessions());
  }
  co_await deliver(exchange, *stream, std::move(delivery), options_.streams);
  session->forget(stream);
}

Task<> HttpEndpoint::legacy(net::HttpExchange& exchange, Message message) {
  const Session session = co_await require_session(exchange);
  if (session == nullptr) co_return;
  if (!session->takes(message)) {
    const RpcError error{kInvalidRequest, "Only version 2025-03-26 has batches, of 1 to 100"};
    co_return co_await exchange.answer(refusal(400, std::nullopt, error));
  }
  const bool is_batch = message.kind == Message::Kind::batch;
  const HttpSession::Stream stream = session->handle(std::move(message));
  if (stream == nullptr) co_return co_await exchange.answer(accepted());
  Delivery delivery;
  delivery.form = form_for(exchange.request());
  delivery.modern = false;
  delivery.prime = session->can_resume_early();
  delivery.as_array = is_batch;
  delivery.headers.emplace_back("Mcp-Session-Id", session->id());
  // An id at once, so that whoever loses the connection can come back.
  if (delivery.prime && delivery.form == Delivery::Form::either && !stream->is_complete())
    delivery.form = Delivery::Form::stream;
  co_await deliver_legacy(exchange, session, stream, std::move(delivery));
}

Task<> HttpEndpoint::deliver_legacy(net::HttpExchange& exchange, Session session,
                                    HttpSession::Stream stream, Delivery delivery) {
  const Delivered delivered =
      co_await deliver(exchange, *stream, std::move(delivery), options_.streams);
  session->last_use = clock_.now();
  if (delivered == Delivered::answer) session->forget(stream);
  if (delivered == Delivered::none && stream->is_closed())
    co_await exchange.answer(unknown_session());
}

Task<> HttpEndpoint::get(net::HttpExchange& exchange) {
  const net::HttpServerRequest& request = exchange.request();
  if (!names_type(request, kStream)) {
    co_return co_await exchange.answer(
        plain_refusal(406, kTransportError, "Accept must name text/event-stream"));
  }
  const Session session = co_await require_session(exchange);
  if (session == nullptr) co_return;
  if (draining_) co_return co_await exchange.answer(shutting_down());
  Delivery delivery;
  delivery.form = Delivery::Form::stream;
  delivery.modern = false;
  delivery.headers.emplace_back("Mcp-Session-Id", session->id());
  HttpSession::Stream stream = session->announcements();
  const auto resumed = find_header(request, "last-event-id");
  if (resumed) {
    const auto id = parse_event_id(*resumed);
    stream = id ? session->find_stream(id->stream) : nullptr;
    if (stream == nullptr || stream->is_closed() || id->number > stream->last()) {
      co_return co_await exchange.answer(plain_refusal(
          400, kTransportError, "Last-Event-ID names no event that this session still has"));
    }
    delivery.after = id->number;
  } else if (stream->is_attached()) {
    co_return co_await exchange.answer(
        plain_refusal(409, kTransportError, "This session has a stream for announcements already"));
  } else {
    delivery.after = stream->taken();
    delivery.prime = session->can_resume_early();
  }
  co_await deliver_legacy(exchange, session, stream, std::move(delivery));
}

Task<> HttpEndpoint::remove(net::HttpExchange& exchange) {
  const Session session = co_await require_session(exchange);
  if (session == nullptr) co_return;
  end_session(session);
  net::HttpAnswer answer;
  answer.type = "";
  co_await exchange.answer(std::move(answer));
}

HttpEndpoint::Session HttpEndpoint::find_session(const net::HttpServerRequest& request) const {
  const auto id = find_header(request, "mcp-session-id");
  const auto at = id ? sessions_.find(*id) : sessions_.end();
  return at != sessions_.end() ? at->second : nullptr;
}

Task<HttpEndpoint::Session> HttpEndpoint::require_session(net::HttpExchange& exchange) {
  const net::HttpServerRequest& request = exchange.request();
  if (request.count("mcp-session-id") == 0) {
    co_await exchange.answer(plain_refusal(
        400, kTransportError, "The header Mcp-Session-Id is missing: send initialize first"));
    co_return nullptr;
  }
  const Session session = find_session(request);
  if (session == nullptr) {
    co_await exchange.answer(unknown_session());
    co_return nullptr;
  }
  const auto version = find_header(request, "mcp-protocol-version");
  if (version && !is_supported(*version)) {
    co_await exchange.answer(plain_refusal(400, kTransportError, "Unsupported protocol version"));
    co_return nullptr;
  }
  session->last_use = clock_.now();
  co_return session;
}

}  // namespace belljar::mcp
