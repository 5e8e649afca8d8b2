#pragma once

#include "base/fd.h"

namespace belljar::launcher {

// A detached mount of one directory of the host (an O_PATH handle), without the mounts beneath it,
// in which the directory's owner and group are `id`: who has that id sees files of the owner as its
// own, and what it makes there is the owner's on disk. Files of others look like nobody's. 0 or an
// errno; EINVAL if the file system cannot do it.
int clone_id_mapped(int directory, unsigned id, Fd& result);

// Makes a user namespace that nobody is in, with these lines as its maps. 0 or an errno.
int make_user_namespace(const char* uid_map, const char* gid_map, Fd& result);

}  // namespace belljar::launcher
