#pragma once

#include <linux/filter.h>

#include <vector>

namespace belljar::launcher {

// The two filters of sandbox/seccomp_policy.h as programs for the kernel, compiled once and loaded
// into every process.
struct SeccompFilters {
  std::vector<sock_filter> arguments;
  std::vector<sock_filter> names;
};

// 0 or an errno.
int compile_filters(SeccompFilters& filters);

// Loads both into the calling thread, names last: that one forbids seccomp(2). Needs no_new_privs.
int load_filters(const SeccompFilters& filters);

}  // namespace belljar::launcher
