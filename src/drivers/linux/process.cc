#include "drivers/linux/process.h"

namespace belljar::linux_driver {

LinuxProcess::LinuxProcess(LauncherClient& client, uint64_t sandbox, uint64_t id,
                           std::shared_ptr<RunningProgram> program, StartWay start)
    : client_{client}, sandbox_{sandbox}, id_{id}, start_{start}, program_{std::move(program)} {
  client_.on_exit(
      sandbox_, id_, [program = program_, after = after_](const launcher::Reply& reply) {
        program->end({reply.status, reply.cpu_micros, reply.max_rss, reply.out_of_memory != 0});
        if (*after) (*after)();
      });
}

LinuxProcess::~LinuxProcess() {
  client_.forget_exit(sandbox_, id_);
  if (!program_->has_ended()) client_.tell(request_for(launcher::RequestType::kill, sandbox_, id_));
  program_->detach();
}

Task<Outcome> LinuxProcess::wait() {
  const auto program = program_;
  Outcome outcome = co_await program->wait();
  outcome.start = start_;
  co_return outcome;
}

void LinuxProcess::kill(Outcome::Kind why) {
  program_->killed(why);
  client_.tell(request_for(launcher::RequestType::kill, sandbox_, id_));
}

}  // namespace belljar::linux_driver
