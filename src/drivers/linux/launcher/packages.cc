#include "drivers/linux/launcher/packages.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "drivers/linux/launcher/id_map.h"
#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/report.h"

namespace belljar::launcher {

namespace {

constexpr const char* kName = "node_modules";
constexpr unsigned kAttributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

int result_of(int status) {
  return status == 0 ? 0 : errno;
}

struct Option {
  const char* key;
  std::string value;  // empty: it has none
};

// 0 or an errno: a new file system, mounted nowhere yet.
template <size_t N>
int make_mount(const char* type, const Option (&options)[N], Fd& result) {
  const Fd context{fsopen(type)};
  if (!context) return errno;
  for (const Option& option : options) {
    const bool is_flag = option.value.empty();
    const unsigned command = is_flag ? FSCONFIG_SET_FLAG : FSCONFIG_SET_STRING;
    const char* const value = is_flag ? nullptr : option.value.c_str();
    if (fsconfig(context.get(), command, option.key, value) != 0) return errno;
  }
  if (fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr) != 0) return errno;
  result.reset(fsmount(context.get(), kAttributes));
  return result ? 0 : errno;
}

// The helper stays out of the sandbox's pid namespace: nothing in there can signal or look into it.

// Each v1 group that is entered takes a while, and this is soon over. What it makes stays, and
// takes memory.
int enter_cgroup(PackagesContext& context) {
  return context.cgroups.enter_memory(context.sandbox);
}

int copy_one(const PackagesContext& context, int directory, Fd& mount) {
  constexpr uint64_t kReadOnly = MOUNT_ATTR_RDONLY;
  int error = EINVAL;
  if (context.map >= 0) {
    error = clone_mount(directory, context.map, mount, kReadOnly);
  } else if (context.place.is_root) {
    error = clone_id_mapped(context.place.proc.get(), directory, context.ids.node_here, mount,
                            kReadOnly);
  }
  if (error != EINVAL) return error;  // otherwise there are no such mounts here
  return clone_mount(directory, -1, mount, kReadOnly);
}

// With the launcher's rights, while it still has them.
int copy_mounts(PackagesContext& context) {
  if (const int error = copy_one(context, context.directory, context.packages)) return error;
  return context.base < 0 ? 0 : copy_one(context, context.base, context.beneath);
}

int enter_sandbox(PackagesContext& context) {
  const std::string path = std::to_string(context.init) + "/ns/mnt";
  context.mounts.reset(::openat(context.place.proc.get(), path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!context.mounts) return errno;
  if (::setns(context.init_pidfd, CLONE_NEWUSER | CLONE_NEWNS) != 0) return errno;
  const unsigned id = context.ids.init_inside();
  return ::setresgid(id, id, id) == 0 && ::setresuid(id, id, id) == 0 ? 0 : errno;
}

// The layers of the overlay must be mounted somewhere when it is made, but not where a program
// could see them, or where on the host they come from. The handle has this namespace end with the
// process, not before: taking it apart takes a while.
int make_workshop(PackagesContext& context) {
  if (::unshare(CLONE_NEWNS) != 0) return errno;
  context.workshop.reset(::openat(context.place.proc.get(), "self/ns/mnt", O_RDONLY | O_CLOEXEC));
  return context.workshop ? 0 : errno;
}

int make_changes(PackagesContext& context) {
  const Option options[] = {{"source", "changes"},
                            {"mode", "755"},
                            {"size", std::to_string(context.limits.disk)},
                            {"nr_inodes", std::to_string(context.limits.inodes)}};
  if (const int error = make_mount("tmpfs", options, context.changes)) return error;
  // Over /dev: nobody but the launcher ever decided what is there.
  if (move_mount(context.changes.get(), "", AT_FDCWD, "/dev", MOVE_MOUNT_F_EMPTY_PATH) != 0)
    return errno;
  if (::fchdir(context.changes.get()) != 0) return errno;
  ::umask(0);
  for (const char* path : {"packages", "beneath", "changed", "work"}) {
    if (::mkdir(path, 0755) != 0) return errno;
  }
  return result_of(::chown("changed", kNodeId, kNodeId));
}

int merge(PackagesContext& context) {
  constexpr unsigned kFrom = MOVE_MOUNT_F_EMPTY_PATH;
  if (move_mount(context.packages.get(), "", AT_FDCWD, "packages", kFrom) != 0) return errno;
  const bool has_base = static_cast<bool>(context.beneath);
  if (has_base && move_mount(context.beneath.get(), "", AT_FDCWD, "beneath", kFrom) != 0)
    return errno;
  const Option options[] = {{"source", "packages"},
                            {"lowerdir", has_base ? "packages:beneath" : "packages"},
                            {"upperdir", "changed"},
                            {"workdir", "work"},
                            {"userxattr", ""}};
  return make_mount("overlay", options, context.merged);
}

int leave_workshop(PackagesContext& context) {
  return result_of(::setns(context.mounts.get(), CLONE_NEWNS));
}

// As `node`, so that the program may remove it again; and with no more rights than it has.
int make_directory(int workspace) {
  const auto init_group = static_cast<gid_t>(::setfsgid(kNodeId));
  const auto init_user = static_cast<uid_t>(::setfsuid(kNodeId));
  const bool is_made = ::mkdirat(workspace, kName, 0755) == 0 || errno == EEXIST;
  const int error = is_made ? 0 : errno;
  ::setfsuid(init_user);
  ::setfsgid(init_group);
  return error;
}

bool is_mount(int directory) {
  struct statx info {};
  return ::statx(directory, "", AT_EMPTY_PATH, 0, &info) == 0 &&
         (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

// No program can mount, so a mount at the place is one of packages. Programs that run may look for
// a package at any moment: the new ones come beneath the old ones, which then go. Before Linux 6.5
// the old ones stay, covered, until the sandbox ends.
int replace_mount(int merged, int workspace, int place) {
  constexpr unsigned kPlain = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
  constexpr unsigned kBeneath = 0x200;  // MOVE_MOUNT_BENEATH
  if (move_mount(merged, "", place, "", kPlain | kBeneath) != 0)
    return errno == EINVAL ? result_of(move_mount(merged, "", place, "", kPlain)) : errno;
  if (::fchdir(workspace) != 0) return errno;
  return result_of(::umount2(kName, MNT_DETACH | UMOUNT_NOFOLLOW));
}

// Programs may run here and put something else in the place of everything that is named. What is
// found is kept by its handle, and the place of a mount cannot be renamed.
int attach(PackagesContext& context) {
  const Fd root{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!root) return errno;
  const Fd workspace{open_directory_beneath(root.get(), "workspace")};
  if (!workspace) return errno;
  if (const int error = make_directory(workspace.get())) return error;
  const Fd place{open_directory_beneath(workspace.get(), kName)};
  if (!place) return errno;
  const int merged = context.merged.get();
  if (is_mount(place.get())) return replace_mount(merged, workspace.get(), place.get());
  return result_of(
      move_mount(merged, "", place.get(), "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH));
}

constexpr Step<PackagesContext> kSteps[] = {
    {"enter the memory cgroup", enter_cgroup},
    {"copy the mount of the packages", copy_mounts},
    {"enter the sandbox", enter_sandbox},
    {"make a mount namespace", make_workshop},
    {"make room for changes", make_changes},
    {"merge packages and changes", merge},
    {"leave the mount namespace", leave_workshop},
    {kPackagesPlaceStep, attach},  // until now the sandbox is as it was
};

}  // namespace

void mount_packages(PackagesContext context) {
  run_steps(kSteps, context);
  report_ready(context.status);
  ::_exit(0);
}

}  // namespace belljar::launcher
