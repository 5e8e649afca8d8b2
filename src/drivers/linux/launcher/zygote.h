#pragma once

#include <vector>

#include "base/fd.h"
#include "drivers/linux/launcher/cgroup.h"
#include "drivers/linux/launcher/fork_request.h"
#include "drivers/linux/launcher/proc.h"
#include "drivers/linux/launcher/seccomp.h"
#include "drivers/linux/launcher/template.h"

namespace belljar::launcher {

// A stock Node.js that has booted, warmed up and makes copies of itself, each of which enters a
// sandbox and becomes a program there: see drivers/linux/zygote. It has no rights but those over
// sandboxes, as root in the user namespace above theirs, and runs nobody's code.
struct ZygoteContext {
  const Cgroups& cgroups;
  const Template& base;
  const ProcMasks& masks;
  int owner;  // the intermediate user namespace
  int library;
  uint64_t group;  // the name of its cgroup, as if it were a sandbox
  SandboxLimits
      limits;  // of the sandboxes it is for: V8 sizes its heap by what it sees at its start
  int control;
  int status;
};

// Runs in a forked child of the launcher and does not return.
[[noreturn]] void start_zygote(ZygoteContext context);

// The library beside this program, as a file that nobody can change. Empty if it is not there.
Fd open_zygote_library();

// The environment that every program has.
extern const char* const kProgramEnvironment[8];

// 0 or an errno.
int send_zygote_setup(int control, const SeccompFilters& filters);
int send_fork_request(int control, const ForkRequest& request, const std::vector<int>& fds);

}  // namespace belljar::launcher
