#pragma once

#include "base/fd.h"
#include "drivers/linux/launcher/create.h"

namespace belljar::launcher {

// Everything needed to bring packages into one sandbox. Refers to the launcher's own state; used
// between fork and report only.
struct PackagesContext {
  const Cgroups& cgroups;
  const Place& place;
  pid_t init;  // the sandbox's
  int init_pidfd;
  SandboxIds ids;
  uint64_t sandbox;
  SandboxLimits limits;
  int directory;  // the packages, on the host
  int base;       // those that show where the others are not, or -1
  int map;        // that of their owner (make_owner_map()), or -1
  int status;     // its end of the status pipe
  Fd mounts;      // the sandbox's mount namespace
  Fd workshop;    // the helper's own
  Fd packages;    // the mount of `directory`
  Fd beneath;     // that of `base`
  Fd changes;     // that of what programs change
  Fd merged;      // that of all
};

// Runs in a forked child of the launcher and does not return. Programs find the packages in
// /workspace/node_modules, in place of those that were mounted there before, as files of `node`
// that they may change: changes are kept in a tmpfs of the sandbox's, by an overlay, and count as
// its memory. Reports `ready` or the step that failed; then what was there is there still, unless
// it was the last one.
//
// Where the packages' file system has no id-mapped mounts, and for ordinary users whose sandboxes
// have ids of their own, their owner is nobody inside: programs read and execute them, and may add
// to node_modules, but the kernel refuses to copy what it cannot give to anybody: a change in a
// package is EOVERFLOW or EACCES.
[[noreturn]] void mount_packages(PackagesContext context);

}  // namespace belljar::launcher
