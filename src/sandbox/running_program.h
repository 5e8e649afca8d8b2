#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "sandbox/outcome.h"
#include "sandbox/program_output.h"

namespace belljar {

// The end of a program as the kernel tells it.
struct ProgramEnd {
  int status = 0;  // as of wait()
  uint64_t cpu_micros = 0;
  uint64_t max_rss = 0;  // bytes
  bool out_of_memory = false;
};

// A program seen from outside, whatever the driver: its output on the way to the sink, and its end.
// Shared with whoever tells the end, who may do so when the process object is gone.
class RunningProgram {
 public:
  // `output` and `errors` are the read ends of its pipes. `stopped` becomes true when the sandbox
  // is destroyed.
  RunningProgram(const asio::any_io_executor& executor, Fd output, Fd errors, OutputSink& sink,
                 std::shared_ptr<const bool> stopped);

  void end(const ProgramEnd& end);
  bool has_ended() const { return ended_.is_set(); }

  // It is being killed: why. The first reason counts.
  void killed(Outcome::Kind why);

  // Until the program has ended and its output has arrived.
  Task<Outcome> wait();

  // From now on the sink is not used any more.
  void detach() { output_->detach(); }

 private:
  Outcome outcome() const;

  std::shared_ptr<ProgramOutput> output_;
  std::shared_ptr<const bool> stopped_;
  std::optional<Outcome::Kind> killed_because_;
  ProgramEnd end_;
  Event ended_;
};

}  // namespace belljar
