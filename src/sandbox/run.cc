#include "sandbox/run.h"

#include <memory>
#include <optional>
#include <utility>

#include "sandbox/driver.h"

namespace belljar {

namespace {

class Capture final : public OutputSink {
 public:
  Capture(size_t limit, LiveOutput live) : out{limit}, err{limit}, live_{std::move(live)} {}

  void write(Stream stream, std::string_view bytes) override {
    (stream == Stream::out ? out : err).write(bytes);
    if (live_) live_(stream, bytes);
  }

  OutputBuffer out;
  OutputBuffer err;

 private:
  LiveOutput live_;
};

}  // namespace

Task<RunResult> run_program(Sandbox& sandbox, Command command, RunLimits limits, LiveOutput live) {
  const auto begin = std::chrono::steady_clock::now();
  Capture capture{limits.output_limit, std::move(live)};  // outlives the process that writes to it
  // What already runs in the sandbox can hold up the start of another program, so that has a limit
  // too.
  auto started = co_await with_timeout(limits.timeout, sandbox.start(std::move(command), capture));
  const auto begun = std::chrono::steady_clock::now();
  std::optional<Outcome> outcome;
  if (!started) {
    outcome.emplace().kind = Outcome::Kind::timed_out;
  } else {
    const auto process = std::move(*started);
    const auto left = begin + limits.timeout - begun;
    outcome = co_await with_timeout(left, process->wait());
    if (!outcome) {
      // If the program ended in this very moment, kill() does nothing and wait() tells how it
      // ended.
      process->kill(Outcome::Kind::timed_out);
      outcome = co_await process->wait();
    }
  }

  RunResult result;
  result.outcome = *outcome;
  result.out = capture.out.take();
  result.err = capture.err.take();
  result.start_time = std::chrono::duration_cast<std::chrono::microseconds>(begun - begin);
  result.duration = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  co_return result;
}

}  // namespace belljar
