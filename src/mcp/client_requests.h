#pragma once

#include <map>
#include <memory>
#include <string>

#include "mcp/active_call.h"
#include "mcp/input.h"
#include "mcp/message.h"

namespace belljar::mcp {

// What a client of the legacy era has been asked and has not answered yet. The ids are our own
// ("s1", "s2", …): the client may use the same ones for its requests.
class ClientRequests {
 public:
  // `send` tells the client that an answer is no longer wanted.
  ClientRequests(asio::any_io_executor executor, Send send, milliseconds limit);
  ~ClientRequests();

  // Sends the requests through `send`, the stream of the call that they belong to, and waits for
  // all answers: those, by name, or why there is none. A client that takes longer than the limit is
  // not waited for; neither is it once this is cancelled.
  Task<Reply> ask(InputRequired input, std::string version, Send send);

  // Takes a response. One that nobody waits for is ignored.
  void answer(Message response);

  // From now on nothing is sent: the client is gone.
  void mute() { muted_ = true; }

  size_t pending() const { return pending_.size(); }

 private:
  struct Pending;
  class Asking;
  void withdraw(const Id& id);

  asio::any_io_executor executor_;
  Send send_;
  milliseconds limit_;
  bool muted_ = false;
  int64_t next_ = 1;
  std::map<std::string, Pending*> pending_;  // by key_of(id); each enters and leaves by itself
};

}  // namespace belljar::mcp
