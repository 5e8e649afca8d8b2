#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/task.h"
#include "drivers/docker/agent_message.h"

namespace belljar::docker {

// Speaks to the agent of one container: the only way in. All it says is hostile input: an agent
// that says anything but what it may is as good as gone, and so is one that does not listen. When
// the connection ends, whoever waits for an answer gets Error{unavailable}, and every program has
// ended as one that was killed. Never blocks. Destroying it ends the agent, and with it the
// container.
class AgentClient {
 public:
  AgentClient(const asio::any_io_executor& executor, Fd socket, AgentHello hello);
  ~AgentClient();
  AgentClient(const AgentClient&) = delete;
  AgentClient& operator=(const AgentClient&) = delete;

  AgentHello& hello() { return hello_; }

  // False once the connection has ended: the container is gone or going.
  bool alive() const { return !closed_; }

  // Ends the connection, for its container has ended: by lack of memory, if it says so.
  void lose(bool out_of_memory);

  // Called once, when that happens. The handler may destroy this object.
  void on_close(std::function<void()> handler) { close_handler_ = std::move(handler); }

  // Starts a program under a number that the caller gives no second one; of the command argv, env
  // (which is all of its environment) and source. Error{not_found} if argv[0] cannot be executed.
  // Pipes among the descriptors are opened to the container's user, so that a program may open
  // /dev/stdout. Cancelling gives up waiting; the program may start all the same: kill it.
  Task<> start(uint64_t program, const Command& command, int in, int out, int err);

  // Calls `handler` once when the program has ended, also if it has already, but never before this
  // returns. To be called before start() or after it. The handler may destroy this object.
  using EndHandler = std::function<void(const ProgramEnd&)>;
  void on_end(uint64_t program, EndHandler handler);
  void forget(uint64_t program);

  // Kills the program, also if it has ended already, with everything it started that is still
  // there. Returns at once.
  void kill(uint64_t program) noexcept;

  // A connection to a port of the container's loopback addresses. Does not block.
  // Error{unavailable} if nothing accepts there.
  Task<Fd> connect(uint16_t port);

  // A socket that listens at the loopback address of the container, at a port that its kernel
  // chose. Does not block.
  Task<Fd> listen();

  // Has programs find the packages of this number (agent::kPackages) in /workspace/node_modules.
  // Error{invalid} if a program has made something there that is neither an empty directory nor
  // such a link.
  Task<> link_packages(uint32_t number);

 private:
  struct Pending;
  struct Program {
    bool is_started = false;  // or about to be: its end will be told
    std::optional<ProgramEnd> end;
    EndHandler handler;
  };
  struct Unsent {
    agent::Request request;
    std::vector<Fd> fds;
  };
  using Answer = std::shared_ptr<Pending>;

  void read_when_ready();
  void read_replies();
  bool take(std::string_view bytes, std::span<Fd> fds);
  bool take_end(const agent::Reply& reply);
  void deliver_end(uint64_t program);
  void write_when_ready();
  void write_unsent();
  int send(const agent::Request& request, std::span<const int> fds);
  Answer ask(agent::Request request, std::span<const int> fds, const std::string& what);
  Task<Fd> ask_for_socket(agent::Request request, std::string what);
  ProgramEnd killed() const;
  void lost();

  asio::posix::stream_descriptor socket_;
  AgentHello hello_;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);  // false once this object is gone
  bool closed_ = false;
  bool out_of_memory_ = false;  // that is why
  std::function<void()> close_handler_;
  std::deque<Unsent> unsent_;  // while the agent does not read
  uint32_t next_serial_ = 1;
  std::map<uint32_t, Answer> pending_;
  std::map<uint64_t, Program> programs_;
};

}  // namespace belljar::docker
