#include "sandbox/running_program.h"

#include <sys/wait.h>

#include <csignal>

namespace belljar {

RunningProgram::RunningProgram(const asio::any_io_executor& executor, Fd output, Fd errors,
                               OutputSink& sink, std::shared_ptr<const bool> stopped)
    : output_{std::make_shared<ProgramOutput>(executor, std::move(output), std::move(errors),
                                              sink)},
      stopped_{std::move(stopped)},
      ended_{executor} {
  output_->begin();
}

void RunningProgram::end(const ProgramEnd& end) {
  end_ = end;
  ended_.set();
}

void RunningProgram::killed(Outcome::Kind why) {
  if (!ended_.is_set() && !killed_because_) killed_because_ = why;
}

Task<Outcome> RunningProgram::wait() {
  co_await ended_.wait();
  const auto output = output_;
  co_await output->finish();
  co_return outcome();
}

Outcome RunningProgram::outcome() const {
  Outcome outcome;
  outcome.usage.cpu = std::chrono::microseconds{end_.cpu_micros};
  outcome.usage.max_rss = end_.max_rss;
  if (WIFEXITED(end_.status)) {
    outcome.code = WEXITSTATUS(end_.status);
    return outcome;
  }
  outcome.kind = Outcome::Kind::signaled;
  outcome.code = WTERMSIG(end_.status);
  if (outcome.code != SIGKILL) return outcome;
  if (killed_because_) {
    outcome.kind = *killed_because_;
  } else if (end_.out_of_memory) {
    outcome.kind = Outcome::Kind::out_of_memory;
  } else if (*stopped_) {
    outcome.kind = Outcome::Kind::cancelled;
  }
  return outcome;
}

}  // namespace belljar
