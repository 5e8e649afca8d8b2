#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/fd.h"
#include "drivers/docker/agent/command.h"
#include "drivers/docker/agent/out_of_memory.h"
#include "drivers/docker/agent/protocol.h"

// A program and the process between it and the agent, its supervisor: whatever the program starts
// stays beneath it, daemons included, and so it can be found.
namespace belljar::agent {

// The highest number that a descriptor can have: gVisor's close_range() knows no higher one.
constexpr unsigned kLastFd = 0x7fffffff;

// Everything needed to start one. Used between fork and exec.
struct StartContext {
  StartCommand& command;
  const OomScore& score;
  const std::string& node;  // where the image has it; "": nowhere
  int workspace;
  int input;
  int output;
  int errors;
  int package;      // the file that the command came in
  uint64_t mark;    // see mark_of_program(); 0: it needs none
  int status = -1;  // write end of the pipe for a StartFailure
};

// What comes through the first pipe, if anything does before its end: then the program was never
// executed.
struct StartFailure {
  Step step;
  int32_t error;
};

// What comes through the second one when the program has ended.
struct EndReport {
  int32_t status;
  uint32_t reserved;
  uint64_t cpu_micros;
  uint64_t max_rss;
};

struct Started {
  pid_t supervisor = -1;
  Fd failure;  // ends when the program is executed; both do not block
  Fd end;
};

// 0 or an errno. The supervisor is a child of the caller and ends by itself, with status 0, when
// nothing is left beneath it.
int start_program(StartContext context, Started& started);

}  // namespace belljar::agent
