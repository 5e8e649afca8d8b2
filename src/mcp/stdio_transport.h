#pragma once

#include <string>

#include "base/task_group.h"
#include "mcp/connection.h"
#include "mcp/line_splitter.h"
#include "mcp/server.h"
#include "mcp/stdio_stream.h"

namespace belljar::mcp {

struct StdioOptions {
  int input = 0;
  int output = 1;
  size_t max_line = kMaxMessageBytes;
  size_t max_pending = 64u << 20;  // bytes the client has not read yet before we stop reading
  milliseconds flush_limit{1000};  // how long the end waits for a client that does not read
};

// Serves one client over a pair of descriptors, one message per line.
//
//   StdioTransport transport{executor, server};
//   co_await transport.run();
class StdioTransport {
 public:
  // Opens the descriptors and does nothing else. `server` must outlive it.
  StdioTransport(const asio::any_io_executor& executor, Server& server, StdioOptions options = {});

  // Runs until the input ends, the output is closed, stop() is called or the task is cancelled;
  // never throws because of what a client does. Requests in flight are then cancelled and not
  // answered; answers given before are still written. To be called once; must have returned before
  // destruction.
  Task<> run();

  // Makes run() return, with a result for every open subscription. For SIGTERM.
  void stop();

 private:
  Task<> read_lines();
  Task<> write_lines();
  Task<> wait_until_written();
  Task<> wait_for_room();
  Task<> wait_for_change();
  void send(Outgoing outgoing);
  void take(const LineSplitter::Line& line);
  size_t pending() const { return queued_.size() + writing_; }
  bool is_full() const { return pending() > options_.max_pending; }

  StdioOptions options_;
  StdioStream input_;
  StdioStream output_;
  std::string queued_;          // lines to write next
  size_t writing_ = 0;          // bytes being written
  bool broken_ = false;         // nothing can be written any more
  bool polite_ = false;         // the client still listens: tell it that subscriptions end
  asio::steady_timer changed_;  // cancelled whenever one of the above changes
  Event over_;
  Connection connection_;
  TaskGroup tasks_;
};

}  // namespace belljar::mcp
