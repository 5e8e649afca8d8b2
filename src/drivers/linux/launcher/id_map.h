#pragma once

#include "base/fd.h"

namespace belljar::launcher {

// A detached mount of one directory of the host (an O_PATH handle), without the mounts beneath it,
// in which the directory's owner and group are `id`: who has that id sees files of the owner as its
// own, and what it makes there is the owner's on disk. Files of others look like nobody's. 0 or an
// errno; EINVAL if the file system cannot do it.
int clone_id_mapped(int proc, int directory, unsigned id, Fd& result);

// The same without a change of owners; with the user namespace `ids`, its maps are used.
int clone_mount(int directory, int ids, Fd& result);

// Makes a user namespace that nobody is in, with these lines as its maps. `proc` is the launcher's
// own procfs. 0 or an errno.
int make_user_namespace(int proc, const char* uid_map, const char* gid_map, Fd& result);

}  // namespace belljar::launcher
