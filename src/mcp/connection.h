#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/task_group.h"
#include "mcp/active_call.h"
#include "mcp/client_requests.h"
#include "mcp/legacy_session.h"
#include "mcp/message.h"
#include "mcp/server.h"
#include "mcp/subscription.h"

namespace belljar::mcp {

// One client of the server: takes its messages, runs its requests concurrently and sends the
// answers. Both eras are served side by side, decided message by message.
//
// A transport makes one per stdio connection, per legacy HTTP session or per modern HTTP request,
// hands every message to handle(), and must `co_await stop()` before destroying it.
class Connection {
 public:
  // `send` gets what belongs to no request (announcements to a legacy client) and, unless handle()
  // is given another, everything else. It is called from within handle(), announce() and the
  // requests' tasks.
  Connection(asio::any_io_executor executor, Server& server, std::string owner, Send send);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Takes one message, whatever it contains, and returns without waiting for its request. Does
  // nothing once stop() has been called.
  void handle(std::string_view text);

  // The same for a transport that parses itself, and that has a stream for each request: `send`
  // gets the answers, and everything else that belongs to the requests in `message`.
  void handle(Message message, const Send& send);

  // Tells the client of a change if it wants to know; see Server::announce_….
  void announce(const Change& change);

  // Adds what this client wants to be told about resources.
  void add_interest(ResourceInterest& interest) const;

  // Gives every open subscriptions/listen its result. For a shutdown that the client is to notice.
  void end_subscriptions();

  // Cancels every request, answers none of them, and waits until their tasks have ended. The task
  // that awaits this must not itself be cancelled meanwhile.
  Task<> stop();

  // Requests not answered yet, and open subscriptions.
  size_t in_flight() const { return calls_.size() + subscriptions_.size(); }

  // The version that the legacy handshake agreed on; "" before it.
  const std::string& negotiated_version() const { return session_.negotiated(); }

 private:
  struct Running {
    std::shared_ptr<ActiveCall> call;
    TaskGroup::Id task = 0;
  };

  void handle_request(Message message, const Send& send);
  void handle_notification(const Message& message);
  void handle_batch(json::array batch, const Send& send);
  void handle_modern(Message message, const Send& send);
  void handle_legacy(Message message, const Send& send);
  std::optional<Reply> answer_modern_at_once(const Message& message) const;
  void listen(Message message, const Send& send);
  bool send_list(const Message& message, ListCache::Era era, const Send& send);
  void start(Message message, ActiveCall::Setup setup);
  void cancel(const json::object& params);
  void note_interest(std::string_view method);
  Task<> serve(std::shared_ptr<ActiveCall> call, std::string method, json::object params);
  ActiveCall::Setup setup_for(const Message& message, const Send& send) const;

  Server& server_;
  std::string owner_;
  Send send_;
  LegacySession session_;
  ClientRequests requests_;               // to a legacy client
  std::map<std::string, Running> calls_;  // by key_of(id); a cancelled call leaves at once
  std::map<std::string, Subscription> subscriptions_;
  bool stopped_ = false;
  TaskGroup tasks_;
};

}  // namespace belljar::mcp
