#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "sandbox/start_way.h"

namespace belljar {

struct Usage {
  std::chrono::microseconds cpu{
      0};                // user and system time of the process and of the children it waited for
  uint64_t max_rss = 0;  // bytes
};

// How a program ended. That it failed is a result, not an error of ours.
struct Outcome {
  enum class Kind {
    exited,         // `code` is the exit status
    signaled,       // `code` is the signal's number
    timed_out,      // killed because its time was up
    out_of_memory,  // killed because the sandbox's memory limit was reached
    cancelled,      // killed because the caller no longer wants it, or the sandbox was stopped
  };
  Kind kind = Kind::exited;
  int code = 0;
  Usage usage;
  StartWay start = StartWay::exec;

  bool ok() const { return kind == Kind::exited && code == 0; }
};

// "SIGSEGV", or "signal 50" for one without a name.
std::string signal_name(int signal);

}  // namespace belljar
