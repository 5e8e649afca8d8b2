#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/posix.h"
#include "drivers/docker/agent_listener.h"
#include "drivers/docker/carried_agent.h"

// A real agent, and short ways to use it, for tests only.
namespace belljar::docker {

// What an agent finds in its container, in a directory of its own, and the agent as a process.
class AgentUnderTest {
 public:
  enum class Place {
    here,  // among the host's processes, as this user
    // The first of its own namespace of processes, as a container has it; as an ordinary user.
    container,
    blind,    // the same, but /proc is empty
    carried,  // here, but spoken to through its stdin and stdout
  };
  explicit AgentUnderTest(Place place);
  ~AgentUnderTest();  // waits for the end of the agent, so the client must be gone

  // Starts the agent. Null if it ends at once: then this host cannot have such a place.
  Task<std::unique_ptr<AgentClient>> connect();

  void spawn();  // only starts it

  // Ends the way to it. To be called while the loop runs.
  void disconnect() { carried_.reset(); }

  // How it ended. Waits until it has.
  int wait();

  std::string host() const { return root_ + "/host"; }
  std::string workspace() const { return root_ + "/workspace"; }
  std::string node() const { return root_ + "/bin/node"; }  // a program that says "I am node"

 private:
  std::vector<std::string> command() const;

  const Place place_;
  std::string root_ = "/tmp/belljar-agent-XXXXXX";
  pid_t process_ = -1;
  Fd stream_;  // that it has as its stdin and stdout
  std::unique_ptr<CarriedAgent> carried_;
};

// A program that a test has started: its end, and a pipe with its output, which ends when nobody
// who has it lives.
class TestProgram {
 public:
  // Of the shell: prints to the pipe, reads nothing.
  static Task<std::unique_ptr<TestProgram>> start(AgentClient& client, uint64_t number,
                                                  std::string script);
  static Task<std::unique_ptr<TestProgram>> start(AgentClient& client, uint64_t number,
                                                  Command command);

  Task<ProgramEnd> wait();
  Task<std::string> read_line();  // waits for it
  Task<std::string> rest();       // to the end of the pipe: waits for everybody's end

 private:
  explicit TestProgram(const asio::any_io_executor& executor);
  Task<bool> read_more();

  asio::posix::stream_descriptor output_;
  Fd write_end_;
  std::string text_;
  std::shared_ptr<Event> ended_;
  std::shared_ptr<ProgramEnd> end_ = std::make_shared<ProgramEnd>();
};

}  // namespace belljar::docker
