#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "mcp/connection.h"
#include "mcp/event_stream.h"
#include "mcp/http_delivery.h"

namespace belljar::mcp {

// A client of the legacy era over HTTP: what the handshake agreed on, its requests, and the streams
// on which their answers go out. Requests go on when their client hangs up.
class HttpSession {
 public:
  using Stream = std::shared_ptr<EventStream>;

  // The id is random and tells nothing. `budget` and `server` must outlive it.
  HttpSession(const asio::any_io_executor& executor, Server& server, std::string owner,
              EventBudget& budget, HttpStreamOptions options);

  const std::string& id() const { return id_; }
  const std::string& version() const { return connection_.negotiated_version(); }

  // True if its clients know how to come back to a stream before anything came on it.
  bool can_resume_early() const { return version() >= "2025-11-25"; }

  // False for a batch that its version does not have, or that has no size a batch may have.
  bool takes(const Message& message) const;

  // Takes a message that it takes; the stream on which the answers come, or nullptr if there will
  // be none.
  Stream handle(Message message);

  // What belongs to no request.
  const Stream& announcements() const { return announcements_; }

  // The stream of that id, or nullptr.
  Stream find_stream(uint64_t id) const;

  // It will not be asked for again.
  void forget(const Stream& stream) { streams_.erase(stream->id()); }

  // Cancels its requests, closes its streams, and waits until everything has ended.
  Task<> stop();

  // For expiry: one that somebody waits for is not idle.
  bool is_idle() const;
  Clock::Time last_use{};

 private:
  static size_t expected_answers(const Message& message);
  void prune();

  asio::any_io_executor executor_;
  EventBudget& budget_;
  HttpStreamOptions options_;
  std::string id_;
  Stream announcements_;
  std::map<uint64_t, Stream> streams_;  // of requests, by id; older ones first
  uint64_t next_ = 1;
  Connection connection_;
};

}  // namespace belljar::mcp
