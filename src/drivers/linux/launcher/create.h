#pragma once

#include <optional>

#include "base/fd.h"
#include "drivers/linux/launcher/cgroup.h"
#include "drivers/linux/launcher/confine.h"
#include "drivers/linux/launcher/id_map.h"
#include "drivers/linux/launcher/place.h"
#include "drivers/linux/launcher/proc.h"
#include "drivers/linux/launcher/seccomp.h"
#include "drivers/linux/launcher/template.h"
#include "sandbox/gate.h"

namespace belljar::launcher {

// Who init and the programs of a sandbox are outside of it.
struct SandboxIds {
  bool are_own = false;  // of this sandbox alone; otherwise both are the caller
  unsigned init = 0;     // as the owner's user namespace numbers them
  unsigned node = 0;
  unsigned node_here = 0;  // as the launcher's does

  unsigned init_inside() const { return are_own ? kInitId : kNodeId; }
};

// Everything needed to make one sandbox. Refers to the launcher's own state; used between fork and
// report only.
struct CreateContext {
  const Cgroups& cgroups;
  const Template& base;
  const ProcMasks& masks;
  const SeccompFilters& filters;
  const Place& place;
  int owner;  // the intermediate user namespace
  SandboxIds ids;
  uint64_t sandbox;
  SandboxLimits limits;
  int status;             // its end of the status socket
  int files;              // the host directory for /workspace/files, or -1
  int maps_written = -1;  // read end of a pipe: end of file or a byte once the id maps are in place
  bool full_proc = true;
  bool in_background = false;
  bool gated = false;  // with a network that leads to a gate; otherwise to nowhere
  Gate gate;           // once it is open
  // Whose packages it may be given later. The map for their mount is made ahead, while init works.
  std::optional<Owner> packages;
};

// Runs in a forked child of the launcher and does not return: enters the cgroups, the owner
// namespace and the template, starts the sandbox's init as a child of the launcher, and leaves.
// Reports init's pid, then `ready` (from init, when the sandbox is complete and init has no rights
// left; with the sockets of its gate, if it has one) or the step that failed.
[[noreturn]] void create_sandbox(CreateContext context);

// Tries whether a user namespace here may mount a whole procfs. Inside many containers it may not,
// because parts of the visible one are covered; a sandbox then gets one that shows processes only.
// 0, or an errno if it could not be tried.
int try_full_proc(int owner, const Template& base, bool& possible);

}  // namespace belljar::launcher
