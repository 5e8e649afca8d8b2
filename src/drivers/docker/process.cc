#include "drivers/docker/process.h"

namespace belljar::docker {

DockerProcess::DockerProcess(std::shared_ptr<AgentClient> agent, uint64_t id,
                             std::shared_ptr<RunningProgram> program)
    : agent_{std::move(agent)}, id_{id}, program_{std::move(program)} {
  agent_->on_end(id_, [program = program_](const ProgramEnd& end) { program->end(end); });
}

DockerProcess::~DockerProcess() {
  agent_->forget(id_);
  if (!program_->has_ended()) agent_->kill(id_);
  program_->detach();
}

Task<Outcome> DockerProcess::wait() {
  const auto program = program_;
  co_return co_await program->wait();
}

void DockerProcess::kill(Outcome::Kind why) {
  program_->killed(why);
  agent_->kill(id_);
}

}  // namespace belljar::docker
