#pragma once

#include "drivers/linux/launcher/protocol.h"

// Making the root of a sandbox in a mount namespace that is a copy of a Template. Each step returns
// 0 or an errno; the order is that of create.cc.
namespace belljar::launcher {

int mount_scratch(const SandboxLimits& limits);

// The writable places, for the user `node`. Everything lives in one tmpfs, so one size bounds all
// of it.
int fill_scratch(const SandboxLimits& limits, bool cgroup_v2, unsigned node);

int mount_root();
int attach_usr();
int attach_dev();
int pivot_into_root();

}  // namespace belljar::launcher
