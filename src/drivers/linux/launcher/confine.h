#pragma once

#include <linux/securebits.h>
#include <sys/resource.h>

#include <array>

#include "drivers/linux/launcher/protocol.h"
#include "drivers/linux/launcher/seccomp.h"

// The parts of confinement that init and every program share. Each returns 0 or an errno.
namespace belljar::launcher {

// Ids inside a sandbox. Each stands for a host id that no other live sandbox has.
constexpr unsigned kInitId = 0;     // pid 1, and the owner of what programs may not change
constexpr unsigned kNodeId = 1000;  // programs

// Closes every descriptor but the `count` ones listed, which must be sorted and distinct.
int close_all_but(const int* keep, size_t count);

int reset_signals();

// Becomes `id` with no capabilities, now or after any execve, and no supplementary groups. Who has
// no ids but the caller's has the caller's groups, too: the kernel then lets nobody drop them.
int drop_privileges(unsigned id, bool has_own_ids);

// Root has no capabilities by being root, no identity change brings any, and none of this can be
// undone.
constexpr int kSecureBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
                            SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                            SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

// The most that a sandbox's processes get, soft and hard; less where the launcher itself has less.
struct ResourceLimit {
  int resource;
  rlim_t value;
};
// Where no cgroup counts processes, the kernel does for the sandbox's user namespace.
std::array<ResourceLimit, 11> resource_limits(const SandboxLimits& limits,
                                              bool cgroup_counts_processes);
int set_resource_limits(const SandboxLimits& limits, bool cgroup_counts_processes);

// Forbids what the mounts and permissions forbid already, by another mechanism. Sets `abi` to the
// version of Landlock the kernel has, 0 for none: that is reported, not an error.
int restrict_files(unsigned& abi);
unsigned landlock_abi();

}  // namespace belljar::launcher
