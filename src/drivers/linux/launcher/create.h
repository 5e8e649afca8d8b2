#pragma once

#include "base/fd.h"
#include "drivers/linux/launcher/cgroup.h"
#include "drivers/linux/launcher/proc.h"
#include "drivers/linux/launcher/seccomp.h"
#include "drivers/linux/launcher/template.h"

namespace belljar::launcher {

// Everything needed to make one sandbox. Refers to the launcher's own state; used between fork and
// report only.
struct CreateContext {
  const Cgroups& cgroups;
  const Template& base;
  const ProcMasks& masks;
  const SeccompFilters& filters;
  int owner;          // the intermediate user namespace
  unsigned first_id;  // the sandbox's block of ids, as the owner namespace numbers them
  unsigned node_uid;  // the host's number of the sandbox's uid 1000
  uint64_t sandbox;
  SandboxLimits limits;
  int status;             // write end of the status pipe
  int files;              // the host directory for /workspace/files, or -1
  int maps_written = -1;  // read end of a pipe: end of file or a byte once the id maps are in place
  bool full_proc = true;
  bool in_background = false;
};

// Runs in a forked child of the launcher and does not return: enters the cgroups, the owner
// namespace and the template, starts the sandbox's init as a child of the launcher, and leaves.
// Reports init's pid, then `ready` (from init, when the sandbox is complete and init has no rights
// left) or the step that failed.
[[noreturn]] void create_sandbox(CreateContext context);

// Tries whether a user namespace here may mount a whole procfs. Inside many containers it may not,
// because parts of the visible one are covered; a sandbox then gets one that shows processes only.
// 0, or an errno if it could not be tried.
int try_full_proc(int owner, const Template& base, bool& possible);

}  // namespace belljar::launcher
