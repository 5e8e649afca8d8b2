#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/fd.h"

namespace belljar::launcher {

// Whose files are meant, by their numbers on disk.
struct Owner {
  uid_t user = 0;
  gid_t group = 0;
  bool operator==(const Owner&) const = default;
};

// A user namespace in which that owner is called `id`, as the caller's own namespace numbers it:
// for mounts. 0 or an errno. `proc` is the launcher's own procfs.
int make_owner_map(int proc, const Owner& owner, unsigned id, Fd& result);

// A detached mount of one directory of the host (an O_PATH handle), without the mounts beneath it,
// in which the directory's owner and group are `id`: who has that id sees files of the owner as its
// own, and what it makes there is the owner's on disk. Files of others look like nobody's.
// `attributes` are those of mount_setattr() that it has besides nosuid and nodev. 0 or an errno;
// EINVAL if the file system cannot do it.
int clone_id_mapped(int proc, int directory, unsigned id, Fd& result, uint64_t attributes = 0);

// The same without a change of owners; with the user namespace `ids`, its maps are used.
int clone_mount(int directory, int ids, Fd& result, uint64_t attributes = 0);

}  // namespace belljar::launcher
