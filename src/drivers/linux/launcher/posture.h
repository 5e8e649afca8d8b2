#pragma once

#include <sys/types.h>

#include <span>

#include "drivers/linux/launcher/protocol.h"

// The last look before a program runs: what must be true of the process is checked against the
// kernel, not against what was asked for.
namespace belljar::launcher {

// What a process of the launcher sees before it enters a sandbox, and must not see any more
// afterwards.
struct Outside {
  static constexpr int kNamespaces = 6;  // all but the pid namespace: see posture.cc
  ino_t namespaces[kNamespaces];
  dev_t root_device;
  ino_t root;
};

// 0 or an errno.
int look_outside(Outside& outside);

struct Posture {
  Outside outside;
  SandboxLimits limits;
  bool cgroup_counts_processes;
  std::span<const int> descriptors;  // those there may be besides 0, 1 and 2
};

// One thing to look at: null if it is as it must be, otherwise a few words that name it.
using PostureCheck = const char* (*)(const Posture&);
std::span<const PostureCheck> posture_checks();

// The first difference, or null. Takes some 0.1 ms; works under the seccomp filters.
const char* find_difference(const Posture& posture);

// The step of a containment sequence: a difference is reported on `status`, and the process ends.
int check_posture(const Posture& posture, int status);

}  // namespace belljar::launcher
