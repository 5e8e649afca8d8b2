#pragma once

#include <string>

#include "base/fd.h"

namespace belljar::launcher {

// A prepared root of one image: a mount namespace that is already pivoted into a small read-only
// tree, owned by the intermediate user namespace. A sandbox starts as a copy of it and adds only
// what is its own.
//
//   /            tmpfs, read-only
//   /lower       the skeleton of a root and a synthetic /etc: the lower layer of every sandbox's
//   overlay. Apart from
//                the mounts below, because the kernel refuses to take a layer from a tree with
//                locked mounts in it
//   /usr         the host's, read-only; /usr/local is the Node runtime
//   /dev         tmpfs, read-only, with five nodes
//   /proc        the host's; never part of a sandbox's root. The kernel lets a user namespace mount
//   a proc of its
//                own only where one is already fully visible
//   /tmp, /mnt   where a sandbox mounts its scratch space and its root before it pivots
//   /empty, /blank, /uptime, /loadavg  what covers entries of /proc
struct Template {
  Fd mounts;  // the mount namespace
};

struct TemplateParts {
  int runtime;                      // the prefix directory, or -1
  const std::string& certificates;  // PEM: whom programs trust besides those whom the host trusts
};

// Builds the template in a child that is root in the user namespace `owner` and nobody outside.
// `proc` is the launcher's own procfs. 0 or an errno, with the failed step in `step`.
int build_template(int proc, int owner, const TemplateParts& parts, Template& result,
                   std::string& step);

// What the ids in the owner's user namespace stand for, as the launcher's numbers them: 0 to
// `count` - 1 for those from `first`, and perhaps kOutsiderId for one more.
struct OwnerIds {
  unsigned first = 0;
  unsigned count = 0;
  bool has_outsider = false;
  unsigned outsider = 0;
};
constexpr unsigned kOutsiderId = 65536;

// Makes the intermediate user namespace that owns all templates and is the parent of every
// sandbox's own. 0 or an errno.
int make_owner_namespace(int proc, const OwnerIds& ids, Fd& result);

// Waits until a child has ended; its exit status.
int wait_for(pid_t child);

}  // namespace belljar::launcher
