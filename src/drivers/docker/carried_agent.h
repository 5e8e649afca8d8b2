#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>

#include "drivers/docker/agent/carrier.h"
#include "drivers/docker/agent_client.h"

namespace belljar::docker {

// The way to the agent of a container with a kernel of its own: the stream of bytes that an engine
// makes of its stdin and stdout (Engine::attach). What the agent says there is hostile, and whoever
// breaks the rules of frame.h is not spoken to any more. Destroying it ends the agent.
class CarriedAgent {
 public:
  CarriedAgent(const asio::any_io_executor& executor, Fd attached, agent::Carrier::Host host);
  ~CarriedAgent();
  CarriedAgent(const CarriedAgent&) = delete;
  CarriedAgent& operator=(const CarriedAgent&) = delete;

  // The agent, once it has said hello. Nothing if it says anything else, or has ended. Waits for
  // ever: the caller sets the time limit, and may call again.
  Task<std::unique_ptr<AgentClient>> accept();

  // Called once, when the stream has ended, also if it has already: the container has, or is about
  // to. The agent's client does not know it then; the handler is to tell it (AgentClient::lose).
  // Without a handler it sees the end of its connection.
  void on_end(std::function<void()> handler);

 private:
  CarriedAgent(const asio::any_io_executor& executor, Fd attached, agent::Carrier::Host host,
               std::pair<Fd, Fd> packets);
  void work_when_ready();
  void work();

  asio::posix::stream_descriptor packets_;  // until the client has it
  Fd held_;  // the other end of it, so that its client sees no end before it is told
  std::unique_ptr<agent::Carrier> carrier_;
  asio::posix::stream_descriptor ready_;
  std::function<void()> end_handler_;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);  // false once this object is gone
};

}  // namespace belljar::docker
