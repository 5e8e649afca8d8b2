#pragma once

#include <cstdint>

namespace belljar::agent {

// How often the kernel's OOM killer has struck in the container, by its cgroup, v2 or v1. Always 0
// where that cannot be seen.
uint64_t count_oom_kills();

}  // namespace belljar::agent
