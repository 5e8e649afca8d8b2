#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <optional>

#include "drivers/docker/agent_client.h"

namespace belljar::docker {

// What an agent says first; nothing if it is no hello, or the end. Waits for it.
Task<std::optional<AgentHello>> read_hello(asio::posix::stream_descriptor& socket, Way way);

// The socket that the agent of one container connects to, in a directory that only this container
// has. Its name is there until an agent was accepted or this object is destroyed: no program ever
// sees it.
class AgentListener {
 public:
  // Makes it in `directory`, which may be O_PATH and must be nobody else's to write to.
  AgentListener(const asio::any_io_executor& executor, int directory);
  ~AgentListener();
  AgentListener(const AgentListener&) = delete;
  AgentListener& operator=(const AgentListener&) = delete;

  // The first that connects and says hello as agents do. Others are sent away. Waits for ever: the
  // caller sets the time limit.
  Task<std::unique_ptr<AgentClient>> accept();

 private:
  Task<std::unique_ptr<AgentClient>> greet(Fd socket);
  void remove_name() noexcept;

  Fd directory_;  // while the name is there
  asio::posix::stream_descriptor socket_;
};

}  // namespace belljar::docker
