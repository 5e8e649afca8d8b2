#pragma once

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "drivers/linux/launcher/protocol.h"
#include "drivers/linux/launcher_process.h"
#include "drivers/linux/launcher_socket.h"

namespace belljar::linux_driver {

// One about a process of a sandbox.
launcher::Request request_for(launcher::RequestType type, uint64_t sandbox, uint64_t process);

// Speaks to the launcher: requests with answers, orders without, and news of programs that ended.
class LauncherClient {
 public:
  LauncherClient(const asio::any_io_executor& executor, LauncherProcess launcher);
  ~LauncherClient();

  struct Answer {
    launcher::Reply reply{};
    std::array<Fd, launcher::kMaxFds> fds;  // those of the answer, in their order
  };

  // Sends a request and waits for the answer. A failed one is an Error that names the step and the
  // reason; `what` begins its message. Cancelling gives up waiting; the launcher still does what it
  // was asked.
  Task<Answer> ask(launcher::Request request, std::string payload, std::vector<int> fds,
                   std::string what);

  // Sends a request whose answer does not matter. Never blocks, never throws: for destructors.
  void tell(launcher::Request request) noexcept;

  // Has the sandbox destroyed in a moment, when whoever used it has had its answer: taking it apart
  // keeps a processor busy. `use` is kept until then.
  void destroy_soon(uint64_t sandbox, std::shared_ptr<const void> use) noexcept;

  // Calls `handler` once when the program has ended, or when the launcher is lost.
  using ExitHandler = std::function<void(const launcher::Reply&)>;
  void on_exit(uint64_t sandbox, uint64_t process, ExitHandler handler);
  void forget_exit(uint64_t sandbox, uint64_t process);

  // Sets `*dead` when the sandbox is killed from outside, or the launcher is lost.
  void watch(uint64_t sandbox, std::shared_ptr<bool> dead) {
    sandboxes_[sandbox] = std::move(dead);
  }
  void unwatch(uint64_t sandbox) { sandboxes_.erase(sandbox); }

  // Calls `handler` with the number of a zygote that was ready and has died.
  void on_zygote_death(std::function<void(uint64_t)> handler) {
    zygote_death_ = std::move(handler);
  }

  // What the launcher last said about itself and the host (launcher::Fact).
  uint32_t facts() const { return facts_; }

  // The launcher has ended, and everything with it.
  bool is_lost() const { return lost_; }

  // Tells the launcher to destroy everything and waits until it has ended, `limit` at most.
  Task<> shut_down(milliseconds limit);

 private:
  struct Pending;
  void read_when_ready();
  void read_replies();
  Received take_replies();
  void dispatch_taken();
  void dispatch(Answer answer);
  void lost();
  void destroy_unwanted() noexcept;
  bool send(const launcher::Request& request, std::string_view payload, std::span<const int> fds);

  asio::posix::stream_descriptor socket_;
  asio::posix::stream_descriptor pidfd_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // false once this object is gone
  bool lost_ = false;
  uint32_t facts_ = 0;
  std::deque<Answer> taken_;  // received, but not dispatched yet
  struct Unwanted {
    uint64_t sandbox;
    std::shared_ptr<const void> use;
  };
  std::vector<Unwanted> unwanted_;  // sandboxes
  asio::steady_timer moment_;
  uint32_t next_serial_ = 1;
  std::map<uint32_t, std::shared_ptr<Pending>> pending_;
  std::map<std::pair<uint64_t, uint64_t>, ExitHandler> exits_;
  std::map<uint64_t, std::shared_ptr<bool>> sandboxes_;
  std::function<void(uint64_t)> zygote_death_;
};

}  // namespace belljar::linux_driver
