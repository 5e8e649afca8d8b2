#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/task.h"
#include "sandbox/command.h"
#include "sandbox/outcome.h"
#include "sandbox/output_buffer.h"

namespace belljar {

class Sandbox;

struct RunLimits {
  milliseconds timeout{30'000};    // wall clock, from the start of the program
  size_t output_limit = 1u << 20;  // bytes kept of each stream
};

struct RunResult {
  Outcome outcome;
  CapturedOutput out;
  CapturedOutput err;
  std::chrono::microseconds start_time{0};  // of it, until the program had what it needs
  std::chrono::microseconds duration{0};    // from the request to start it until its end was known
  std::string stop_reason;  // why the sandbox was stopped, if that is what ended the program
};

// Gets output while the program runs, in the pieces in which it arrives. Must not throw.
using LiveOutput = std::function<void(Stream, std::string_view)>;

// Runs one program to its end, or to the end of its time: it is then killed with everything it
// started, and the outcome is `timed_out`. Cancelling the task kills the program too. That the
// program failed is a result; an Error means that it could not be started. `live` may be empty.
Task<RunResult> run_program(Sandbox& sandbox, Command command, RunLimits limits, LiveOutput live);

}  // namespace belljar
