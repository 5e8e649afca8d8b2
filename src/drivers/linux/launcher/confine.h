#pragma once

#include "drivers/linux/launcher/protocol.h"
#include "drivers/linux/launcher/seccomp.h"

// The parts of confinement that init and every program share. Each returns 0 or an errno.
namespace belljar::launcher {

// Ids inside a sandbox. Each stands for a host id that no other live sandbox has.
constexpr unsigned kInitId = 0;     // pid 1, and the owner of what programs may not change
constexpr unsigned kNodeId = 1000;  // programs
constexpr unsigned kIdsPerSandbox = 16;

// Closes every descriptor but the `count` ones listed, which must be sorted and distinct.
int close_all_but(const int* keep, size_t count);

int reset_signals();

// Becomes `id` with no capabilities, now or after any execve, and no supplementary groups. Who has
// no ids but the caller's has the caller's groups, too: the kernel then lets nobody drop them.
int drop_privileges(unsigned id, bool has_own_ids);

// Where no cgroup counts processes, the kernel does for the sandbox's user namespace.
int set_resource_limits(const SandboxLimits& limits, bool cgroup_counts_processes);

// Forbids what the mounts and permissions forbid already, by another mechanism. Sets `abi` to the
// version of Landlock the kernel has, 0 for none: that is reported, not an error.
int restrict_files(unsigned& abi);
unsigned landlock_abi();

// The last look before a program runs: what must be true of this process is checked against the
// kernel, not against what was asked for. EPROTO if anything differs.
int check_posture(bool has_own_ids);

}  // namespace belljar::launcher
