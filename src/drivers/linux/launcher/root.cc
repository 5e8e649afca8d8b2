#include "drivers/linux/launcher/root.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "base/fd.h"
#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/proc.h"

namespace belljar::launcher {

namespace {

// Where things are mounted before the pivot; see Template.
constexpr const char* kScratch = "/tmp";
constexpr const char* kRoot = "/mnt";

int result_of(int status) {
  return status == 0 ? 0 : errno;
}

int copy_mount(const char* path) {
  const Fd tree{open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)};
  if (!tree) return errno;
  return result_of(move_mount(tree.get(), "", AT_FDCWD, (kRoot + std::string{path}).c_str(),
                              MOVE_MOUNT_F_EMPTY_PATH));
}

}  // namespace

int mount_scratch(const SandboxLimits& limits) {
  const std::string options = "mode=755,size=" + std::to_string(limits.disk) +
                              ",nr_inodes=" + std::to_string(limits.inodes);
  return result_of(::mount("scratch", kScratch, "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()));
}

int fill_scratch(const SandboxLimits& limits, bool cgroup_v2, unsigned node) {
  ::umask(0);
  const Fd scratch{::open(kScratch, O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!scratch) return errno;
  for (const char* path : {"upper/workspace/files", "upper/home/node", "work"}) {
    if (const int error = create_directories_at(scratch.get(), path, 0755)) return error;
  }
  for (const char* path : {"upper/tmp", "shm"}) {
    if (::mkdirat(scratch.get(), path, 01777) != 0 ||
        ::fchmodat(scratch.get(), path, 01777, 0) != 0)
      return errno;
  }
  constexpr const char* kPackage = "upper/workspace/package.json";
  if (const int error = create_file_at(scratch.get(), kPackage, "{\"type\":\"module\"}\n", 0644))
    return error;
  for (const char* path :
       {"upper/workspace", "upper/workspace/files", kPackage, "upper/home/node"}) {
    if (::fchownat(scratch.get(), path, node, node, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  }
  return write_machine(scratch.get(), limits, cgroup_v2);
}

int mount_root() {
  return result_of(::mount("root", kRoot, "overlay", MS_NOSUID | MS_NODEV,
                           "lowerdir=/lower,upperdir=/tmp/upper,workdir=/tmp/work,userxattr"));
}

int attach_usr() {
  return copy_mount("/usr");
}

int attach_dev() {
  if (const int error = copy_mount("/dev")) return error;
  return result_of(::mount("/tmp/shm", "/mnt/dev/shm", nullptr, MS_BIND, nullptr));
}

int pivot_into_root() {
  if (::chdir(kRoot) != 0) return errno;
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return errno;
  if (::umount2(".", MNT_DETACH) != 0) return errno;
  return result_of(::chdir("/"));
}

}  // namespace belljar::launcher
