#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/task_group.h"
#include "mcp/http_session.h"
#include "mcp/server.h"
#include "net/http_exchange.h"

namespace belljar::mcp {

struct HttpEndpointOptions {
  size_t max_body = 4u << 20;  // bytes of a request; more is answered with 413
  size_t max_requests = 4096;  // at once, open streams included; more: 429
  size_t max_sessions = 256;   // of the legacy era; the one idle for longest makes room
  milliseconds session_idle{3'600'000};
  HttpStreamOptions streams;
  Clock* clock = nullptr;  // for session_idle; nullptr: the machine's
};

// Streamable HTTP at one path, for one owner, both eras: what belongs to an owner is unknown to the
// endpoint of another. Whoever calls handle() has checked Host, Origin, path and authorization.
//
// Modern requests stand alone; hanging up cancels them. Legacy ones belong to a session and go on
// without their client, who can come back for the answer (Last-Event-ID).
class HttpEndpoint {
 public:
  HttpEndpoint(asio::any_io_executor executor, Server& server, std::string owner,
               HttpEndpointOptions options = {});
  ~HttpEndpoint();  // after stop()
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

  // Answers one request. Returns when the exchange is over.
  Task<> handle(net::HttpExchange& exchange);

  // For a shutdown that clients are to notice: ends open subscriptions with their result, and the
  // streams on which nothing but announcements come. Requests go on. New ones of these get 503.
  void drain();

  // Drains, cancels all requests, ends all sessions, and waits until every handle() has returned.
  Task<> stop();

  size_t sessions() const { return sessions_.size(); }
  size_t requests() const { return active_; }  // being answered, and open streams

 private:
  using Session = std::shared_ptr<HttpSession>;

  Task<> dispatch(net::HttpExchange& exchange);
  Task<> post(net::HttpExchange& exchange);
  Task<> get(net::HttpExchange& exchange);
  Task<> remove(net::HttpExchange& exchange);
  Task<> take(net::HttpExchange& exchange, std::unique_ptr<Message> message);
  Task<> modern(net::HttpExchange& exchange, std::unique_ptr<Message> message);
  Task<> initialize(net::HttpExchange& exchange, Message message);
  Task<> legacy(net::HttpExchange& exchange, Message message);
  Task<> deliver_legacy(net::HttpExchange& exchange, Session session, HttpSession::Stream stream,
                        Delivery delivery);
  // Nothing: it has been answered.
  Task<std::unique_ptr<Message>> read_message(net::HttpExchange& exchange);
  Task<std::optional<std::string>> read_body(net::HttpExchange& exchange);
  std::optional<net::HttpAnswer> refuse_message(const net::HttpServerRequest& request,
                                                const Message& message) const;
  Task<Session> require_session(net::HttpExchange& exchange);
  Session find_session(const net::HttpServerRequest& request) const;

  bool make_room();
  void end_session(Session session);
  Task<> retire(Session session);
  Task<> expire_sessions();

  asio::any_io_executor executor_;
  Server& server_;
  std::string owner_;
  HttpEndpointOptions options_;
  SystemClock system_clock_;
  Clock& clock_;
  EventBudget budget_;
  std::map<std::string, Session, std::less<>> sessions_;  // by id
  std::map<Connection*, EventStream*> modern_;            // requests being served
  size_t active_ = 0;
  bool draining_ = false;
  bool stopped_ = false;
  asio::steady_timer idle_;  // cancelled whenever a handle() returns
  TaskGroup expiry_;
  TaskGroup retiring_;
};

}  // namespace belljar::mcp
