#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"

namespace belljar::launcher {

// Where the launcher itself lives, and as whom.
//
// It is the first process of a pid namespace of its own, so that the kernel kills every sandbox
// with it, however it ends; a keeper process outside only waits for it. As the host's root that is
// all. For an ordinary user it also is root in a user namespace of its own, which gives it the
// rights over mounts, networks and ids that making a sandbox needs, but none outside.
struct Place {
  bool is_root = false;  // the host's
  // The ids that sandboxes get, as the launcher's user namespace numbers them. One: there are no
  // others than the caller's own, which all sandboxes then share.
  unsigned first_id = 0;
  unsigned id_count = 0;
  uid_t caller = 0;  // as the host numbers it
  Fd proc;           // a procfs of the launcher's pid namespace; mounted nowhere
  // The cgroup (v2) that was delegated to the caller, and whether it is free of processes, so that
  // it can give controllers to groups below it. Empty: none. Not used as root.
  std::string cgroup;
  bool cgroup_has_room = false;

  int error = 0;  // why there is no such place
  const char* step = "";

  bool has_own_ids() const { return id_count > 1; }
};

// Goes there; takes the arguments of main(), because on the way the program may execute itself
// again. Returns in the process that is to be the launcher, whatever happens: the place says what
// went wrong.
Place find_place(int argc, char* const* argv);

// The directory `directory`, which belljar opened, as the launcher's own mount namespace has it. 0
// or an errno.
int find_here(const Place& place, int directory, Fd& result);

}  // namespace belljar::launcher
