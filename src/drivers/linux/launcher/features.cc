#include "drivers/linux/launcher/features.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstddef>
#include <iterator>
#include <string>

#include "base/fd.h"
#include "drivers/linux/launcher/confine.h"
#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/gate.h"
#include "drivers/linux/launcher/id_map.h"
#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/proc.h"
#include "drivers/linux/launcher/template.h"

namespace belljar::launcher {

namespace {

constexpr const char* kStage = "/tmp";  // covered in a mount namespace of the child's own

int result_of(long status) {
  return status >= 0 ? 0 : errno;
}

int exit_code(pid_t child) {
  const int status = wait_for(child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}

// Runs a trial in a child with these namespaces; its errno.
int in_child(uint64_t flags, int (*trial)()) {
  const pid_t child = clone_process(flags);
  if (child < 0) return errno;
  if (child == 0) ::_exit(trial());
  return exit_code(child);
}

// From here on root, but only of a user namespace of its own.
int enter_user_namespace() {
  const std::string uid_map = "0 " + std::to_string(::geteuid()) + " 1\n";
  const std::string gid_map = "0 " + std::to_string(::getegid()) + " 1\n";
  if (::unshare(CLONE_NEWUSER) != 0) return errno;
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return errno;  // else the maps are not its own
  if (const int error = write_file_at(AT_FDCWD, "/proc/self/setgroups", "deny")) return error;
  if (const int error = write_file_at(AT_FDCWD, "/proc/self/uid_map", uid_map)) return error;
  return write_file_at(AT_FDCWD, "/proc/self/gid_map", gid_map);
}

template <int Flag>
int try_namespace() {
  return result_of(::unshare(Flag));
}

int nothing() {
  return 0;
}

int try_mount_namespace() {
  if (::unshare(CLONE_NEWNS) != 0) return errno;
  return result_of(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
}

int try_pid_namespace() {
  return in_child(CLONE_NEWPID, [] { return ::getpid() == 1 ? 0 : EPROTO; });
}

int mount_stage(const char* options) {
  if (const int error = try_mount_namespace()) return error;
  if (::mount("trial", kStage, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0) return errno;
  return result_of(::chdir(kStage));
}

int try_pivot_root() {
  if (const int error = mount_stage("size=64k")) return error;
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return errno;
  return result_of(::umount2(".", MNT_DETACH));
}

int try_overlay() {
  if (const int error = mount_stage("size=1m")) return error;
  for (const char* name : {"lower", "upper", "work", "root"}) {
    if (::mkdir(name, 0755) != 0) return errno;
  }
  if (::mount("trial", "root", "overlay", MS_NOSUID | MS_NODEV,
              "lowerdir=lower,upperdir=upper,workdir=work,userxattr") != 0)
    return errno;
  if (const int error = create_file_at(AT_FDCWD, "root/file", "x", 0644)) return error;
  return result_of(::access("upper/file", F_OK));
}

int try_sized_tmpfs() {
  if (const int error = mount_stage("size=64k,nr_inodes=16")) return error;
  const Fd file{::open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644)};
  if (!file) return errno;
  if (::fallocate(file.get(), 0, 0, 256 << 10) == 0) return EPROTO;
  return errno == ENOSPC ? 0 : errno;
}

int mount_proc_with(const char* options) {
  if (const int error = try_mount_namespace()) return error;
  return result_of(::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, options));
}

int try_full_proc() {
  return in_child(CLONE_NEWPID, [] { return mount_proc_with(nullptr); });
}

int try_process_proc() {
  return in_child(CLONE_NEWPID, [] { return mount_proc_with("subset=pid"); });
}

int try_no_new_privs() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : EPROTO;
}

int try_seccomp() {
  if (const int error = try_no_new_privs()) return error;
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog code{std::size(program), program};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &code) != 0) return errno;
  return ::syscall(SYS_getppid) == -1 && errno == EXDEV ? 0 : EPROTO;
}

int try_openat2() {
  const Fd usr{::open("/usr", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!usr) return errno;
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH;
  const Fd above{static_cast<int>(::syscall(SYS_openat2, usr.get(), "..", &how, sizeof how))};
  return above ? EPROTO : errno == EXDEV ? 0 : errno;
}

int try_close_range() {
  const int fd = ::open("/", O_PATH | O_CLOEXEC);
  if (fd < 0) return errno;
  const auto number = static_cast<unsigned>(fd);
  if (::syscall(SYS_close_range, number, number, 0) != 0) return errno;
  return ::fcntl(fd, F_GETFD) == -1 ? 0 : EPROTO;
}

int try_pidfd() {
  const Fd self{pidfd_open(::getpid())};
  if (!self) return errno;
  return result_of(pidfd_kill(self.get(), 0));
}

int try_clone3() {
  return in_child(0, nothing);
}

int try_mount_api() {
  if (const int error = mount_stage("size=64k")) return error;
  if (::mkdir("copy", 0755) != 0) return errno;
  const Fd tree{open_tree(AT_FDCWD, "/usr", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)};
  if (!tree) return errno;
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID;
  if (mount_setattr(tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes) != 0) return errno;
  return result_of(move_mount(tree.get(), "", AT_FDCWD, "copy", MOVE_MOUNT_F_EMPTY_PATH));
}

int try_landlock() {
  if (const int error = try_no_new_privs()) return error;
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = LANDLOCK_ACCESS_FS_READ_DIR;
  const Fd ruleset{
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0))};
  if (!ruleset) return errno;
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) return errno;
  const Fd listed{::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  return !listed && errno == EACCES ? 0 : EPROTO;
}

// With the launcher's own rights, as for a files directory.
int try_id_mapped_mounts() {
  const Fd directory{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!directory) return errno;
  Fd proc;
  if (const int error = make_proc(proc)) return error;
  Fd mount;
  return clone_id_mapped(proc.get(), directory.get(), kNodeId, mount);
}

// A connection to somewhere must come to the gate, and only there.
int try_gate() {
  if (::unshare(CLONE_NEWNET) != 0) return errno;
  if (const int error = bring_loopback_up()) return error;
  if (const int error = lead_to_gate()) return error;
  Fd packets;
  Fd connections;
  if (const int error = open_gate_packets(packets)) return error;
  if (const int error = open_gate_connections(connections)) return error;
  const Fd client{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!client) return errno;
  sockaddr_in somewhere{};
  somewhere.sin_family = AF_INET;
  somewhere.sin_port = htons(443);
  somewhere.sin_addr.s_addr = htonl(0xc0000201);  // 192.0.2.1, which is nobody's
  if (::connect(client.get(), reinterpret_cast<const sockaddr*>(&somewhere), sizeof somewhere) == 0)
    return EPROTO;
  if (errno != EINPROGRESS) return errno;
  char packet[64];
  return result_of(::recv(packets.get(), packet, sizeof packet, 0));
}

enum class As { root_of_a_namespace, launcher };

struct Attempt {
  Trial trial;
  As as;
  int (*run)();
};

constexpr Attempt kAttempts[] = {
    {Trial::user_namespace, As::root_of_a_namespace, nothing},
    {Trial::mount_namespace, As::root_of_a_namespace, try_mount_namespace},
    {Trial::pid_namespace, As::root_of_a_namespace, try_pid_namespace},
    {Trial::network_namespace, As::root_of_a_namespace, try_namespace<CLONE_NEWNET>},
    {Trial::ipc_namespace, As::root_of_a_namespace, try_namespace<CLONE_NEWIPC>},
    {Trial::uts_namespace, As::root_of_a_namespace, try_namespace<CLONE_NEWUTS>},
    {Trial::cgroup_namespace, As::root_of_a_namespace, try_namespace<CLONE_NEWCGROUP>},
    {Trial::pivot_root, As::root_of_a_namespace, try_pivot_root},
    {Trial::overlay, As::root_of_a_namespace, try_overlay},
    {Trial::sized_tmpfs, As::root_of_a_namespace, try_sized_tmpfs},
    {Trial::full_proc, As::root_of_a_namespace, try_full_proc},
    {Trial::process_proc, As::root_of_a_namespace, try_process_proc},
    {Trial::seccomp, As::launcher, try_seccomp},
    {Trial::no_new_privs, As::launcher, try_no_new_privs},
    {Trial::openat2, As::launcher, try_openat2},
    {Trial::close_range, As::launcher, try_close_range},
    {Trial::pidfd, As::launcher, try_pidfd},
    {Trial::clone3, As::launcher, try_clone3},
    {Trial::mount_api, As::root_of_a_namespace, try_mount_api},
    {Trial::landlock, As::launcher, try_landlock},
    {Trial::id_mapped_mounts, As::launcher, try_id_mapped_mounts},
    {Trial::gate, As::root_of_a_namespace, try_gate},
};
static_assert(std::size(kAttempts) == kTrials);

// fork() rather than clone3, which is one of the things to be tried.
int attempt(const Attempt& what) {
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) {
    const int error = what.as == As::root_of_a_namespace ? enter_user_namespace() : 0;
    ::_exit(error != 0 ? error : what.run());
  }
  return exit_code(child);
}

}  // namespace

void try_features(uint8_t (&results)[sizeof Reply::trials]) {
  for (const Attempt& what : kAttempts) {
    results[static_cast<size_t>(what.trial)] = static_cast<uint8_t>(attempt(what));
  }
}

}  // namespace belljar::launcher
