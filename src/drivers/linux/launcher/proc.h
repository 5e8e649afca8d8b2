#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "drivers/linux/launcher/protocol.h"

// What a sandbox sees of /proc and /sys: its own processes, and a machine of the size of its
// limits.
namespace belljar::launcher {

// The entries of /proc's top level that a sandbox must not see, found on this host. Everything that
// is not on an allow-list is hidden, so that what a future kernel adds is hidden too.
struct ProcMasks {
  std::vector<std::string> files;
  std::vector<std::string> directories;
};
int find_proc_masks(ProcMasks& masks);  // 0 or an errno

// Writes the files that describe the machine into the scratch directory: scratch/proc covers
// entries of /proc, scratch/upper/sys becomes /sys. `cgroup_v2`: in which form programs will look
// for their limits.
int write_machine(int scratch, const SandboxLimits& limits, bool cgroup_v2);

// Mounts the procfs of the calling process's pid namespace; `full` or, where the host allows no
// more, with processes only. 0 or an errno.
// A procfs of the caller's pid namespace that is mounted nowhere: a whole one if the host lets us,
// processes only where parts of the visible one are covered. 0 or an errno.
int make_proc(Fd& result);

int mount_proc(const char* path, bool full);

// Covers what must not be seen, and what has a synthetic form, of a full procfs mounted at `path`.
// Runs before the pivot, see Template for the sources.
int cover_proc(const std::string& path, const ProcMasks& masks);

}  // namespace belljar::launcher
