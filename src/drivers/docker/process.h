#pragma once

#include <memory>

#include "drivers/docker/agent_client.h"
#include "sandbox/driver.h"
#include "sandbox/running_program.h"

namespace belljar::docker {

// A program that the agent of a container has started, or is about to.
class DockerProcess final : public Process {
 public:
  DockerProcess(std::shared_ptr<AgentClient> agent, uint64_t id,
                std::shared_ptr<RunningProgram> program);
  ~DockerProcess() override;

  Task<Outcome> wait() override;
  void kill(Outcome::Kind why) override;

 private:
  std::shared_ptr<AgentClient> agent_;
  uint64_t id_;
  std::shared_ptr<RunningProgram> program_;
};

}  // namespace belljar::docker
