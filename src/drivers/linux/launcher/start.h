#pragma once

#include <vector>

#include "drivers/linux/launcher/cgroup.h"
#include "drivers/linux/launcher/create.h"
#include "drivers/linux/launcher/posture.h"
#include "drivers/linux/launcher/seccomp.h"

namespace belljar::launcher {

// Everything needed to start one program. Refers to the launcher's own state; used between fork and
// exec only.
struct StartContext {
  const Cgroups& cgroups;
  const SeccompFilters& filters;
  int init;  // pidfd of the sandbox's init
  SandboxIds ids;
  uint64_t sandbox;
  uint64_t process;
  SandboxLimits limits;
  std::vector<unsigned> programs_per_cpu;
  std::vector<char*> argv;  // both end with a null pointer
  std::vector<char*> envp;
  const char* source_path;  // or null
  int input;
  int output;
  int errors;
  int source;  // or -1
  int status;  // write end of the status pipe
  // For one that waits for its program; otherwise -1. See fork_request.h.
  int job = -1;
  int library = -1;
  Outside outside{};
};

// Runs in a child of the launcher that was born in the sandbox's pid namespace (and v2 cgroup), and
// does not return: enters the rest of the sandbox, gives up every right and becomes the program.
// The status pipe closes when that has happened; before, it carries the step that failed.
[[noreturn]] void start_program(StartContext context);

}  // namespace belljar::launcher
