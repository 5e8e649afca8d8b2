#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "drivers/docker/agent/carrier.h"
#include "drivers/docker/agent/out_of_memory.h"
#include "drivers/docker/agent/processes.h"
#include "drivers/docker/agent/program.h"
#include "drivers/docker/agent/protocol.h"
#include "drivers/docker/agent/sockets.h"

struct pollfd;

namespace belljar::agent {

// What the first process of a container does: as belljar says, until that is gone. Programs have
// its user id, so they can kill and stop supervisors, but not the agent itself: the kernel lets
// nobody do so to the first process, and nobody look into one that is not dumpable.
class Agent {
 public:
  // To belljar: a socket, and who carries what is said there, if it does not lead to belljar
  // itself.
  struct Connection {
    Fd socket;
    std::unique_ptr<Carrier> carrier;
  };

  // `signals` has SIGCHLD, which is blocked.
  Agent(Connection connection, Fd workspace, Fd signals, OomScore score, std::string host_directory,
        std::string node);

  // Until the connection ends.
  void run();

 private:
  struct Program {
    uint32_t serial = 0;  // of the request to start it; 0 once that is answered
    Started process;
    uint64_t oom_kills = 0;  // before it started
    bool has_ended = false;
    std::optional<Hunt> hunt;  // it is to be killed
  };
  using Programs = std::map<uint64_t, Program>;
  struct Connecting {
    uint32_t serial;  // of the request
    LoopbackConnection connection;
  };

  std::vector<pollfd> descriptors() const;
  bool take_request();
  void start(const Request& request, std::vector<Fd>& fds);
  void kill(uint64_t number);
  void connect(const Request& request);
  bool go_on(Connecting& connecting);
  void listen(const Request& request);
  void link(const Request& request);

  void look_after_programs();
  void read_failure(Program& program);
  void read_end(uint64_t number, Program& program);
  void tell_end(uint64_t number, Program& program, const EndReport& report);
  void reap();
  void on_supervisor_death(Programs::iterator at, int status);
  Programs::iterator find_by_supervisor(pid_t pid);

  bool is_hunting() const;
  void hunt();
  void hunt_strays();
  void hunt_orphans();
  void end_all();

  void answer(uint32_t serial, Step step, int error);
  void answer_with(uint32_t serial, const Fd& fd);
  void send(const Reply& reply, const Fd* fd = nullptr);

  Fd socket_;
  std::unique_ptr<Carrier> carrier_;  // or null
  Fd workspace_;
  Fd signals_;
  OomScore score_;
  std::string host_directory_;
  std::string node_;
  Programs programs_;
  std::vector<Connecting> connecting_;
  std::optional<Hunt> strays_;  // what a killed supervisor has left
  const bool has_subreapers_;
  std::map<uint64_t, Hunt> orphans_;  // without subreapers: of programs that have ended, by mark
  bool is_connected_ = true;
};

}  // namespace belljar::agent
