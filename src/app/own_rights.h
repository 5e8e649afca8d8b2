#pragma once

#include <sys/types.h>

#include <vector>

namespace belljar::app {

// Who belljar is when it was started as root and does not need that any more: an id that no user,
// file or sandbox has.
constexpr uid_t kOwnId = 0x5fffffff;

// From now on what this thread makes in the file system belongs to `id`; its rights stay. For root,
// whose data directory belongs to that id whichever driver is used.
void make_files_as(uid_t id);

// Moves this process into the launcher's user namespace, as `id` of that one, with no groups and
// one capability, which counts for what sandboxes own and for nothing else: to read their files.
// Nothing brings rights back, not even execve. To be called while there is one thread.
void give_up_rights(int user_namespace, uid_t id);

// Forbids this process, and all its threads to come, what belljar never does: to write, create or
// remove files but beneath the given directories; to execute; to signal others; and every system
// call that is not on a list. What the kernel does not have of Landlock is left out.
void confine_self(const std::vector<int>& writable);

}  // namespace belljar::app
