#include "drivers/linux/launcher/id_map.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/template.h"

namespace belljar::launcher {

namespace {

int wait_for_the_end(void*) {
  for (;;) ::pause();
}

}  // namespace

// A namespace begins with a process in it. This one shares the memory of its creator, which saves a
// copy, and does nothing; it never comes near a sandbox.
int make_owner_map(int proc, const Owner& owner, unsigned id, Fd& result) {
  alignas(16) char stack[4096];
  constexpr int kFlags = CLONE_VM | CLONE_NEWUSER | SIGCHLD;
  const pid_t child = ::clone(wait_for_the_end, stack + sizeof stack, kFlags, nullptr);
  if (child < 0) return errno;
  const std::string pid = std::to_string(child);
  const auto map = [id](unsigned on_disk) {
    return std::to_string(on_disk) + " " + std::to_string(id) + " 1\n";
  };
  int error = write_file_at(proc, (pid + "/uid_map").c_str(), map(owner.user));
  if (error == 0) error = write_file_at(proc, (pid + "/gid_map").c_str(), map(owner.group));
  if (error == 0) {
    result.reset(::openat(proc, (pid + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
    if (!result) error = errno;
  }
  ::kill(child, SIGKILL);  // the number is nobody else's before it is waited for
  wait_for(child);
  return error;
}

int clone_id_mapped(int proc, int directory, unsigned id, Fd& result, uint64_t attributes) {
  struct stat info;
  if (::fstat(directory, &info) != 0) return errno;
  if (!S_ISDIR(info.st_mode)) return ENOTDIR;
  Fd ids;
  if (const int error = make_owner_map(proc, {info.st_uid, info.st_gid}, id, ids)) return error;
  return clone_mount(directory, ids.get(), result, attributes);
}

int clone_mount(int directory, int ids, Fd& result, uint64_t attributes) {
  result.reset(open_tree(directory, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH));
  if (!result) return errno;
  mount_attr changes{};
  changes.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | attributes;
  if (ids >= 0) {
    changes.attr_set |= MOUNT_ATTR_IDMAP;
    changes.userns_fd = static_cast<uint64_t>(ids);
  }
  changes.propagation = MS_PRIVATE;
  return mount_setattr(result.get(), "", AT_EMPTY_PATH, &changes) == 0 ? 0 : errno;
}

}  // namespace belljar::launcher
