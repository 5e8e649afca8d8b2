#include "drivers/linux/launcher/confine.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"

namespace belljar::launcher {

int close_all_but(const int* keep, size_t count) {
  unsigned first = 0;
  for (size_t i = 0; i < count; ++i) {
    const unsigned fd = static_cast<unsigned>(keep[i]);
    if (fd > first && ::close_range(first, fd - 1, 0) != 0) return errno;
    first = fd + 1;
  }
  return ::close_range(first, ~0u, 0) == 0 ? 0 : errno;
}

int reset_signals() {
  // What the launcher changed; it was started with everything else at its default.
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  return ::sigprocmask(SIG_SETMASK, &none, nullptr) == 0 ? 0 : errno;
}

namespace {

int set_capabilities_to_none() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return ::syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

}  // namespace

int drop_privileges(unsigned id, bool has_own_ids) {
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return errno;
  }
  constexpr unsigned long kSecureBits =
      SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
      SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  if (::prctl(PR_SET_SECUREBITS, kSecureBits, 0, 0, 0) != 0) return errno;
  if (has_own_ids && ::setgroups(0, nullptr) != 0) return errno;
  if (::setresgid(id, id, id) != 0 || ::setresuid(id, id, id) != 0) return errno;
  if (const int error = set_capabilities_to_none()) return error;
  // The change of ids has set this to what a sysctl says.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

int set_resource_limits(const SandboxLimits& limits, bool cgroup_counts_processes) {
  struct Limit {
    int resource;
    rlim_t value;
  };
  // No limit on address space or data: V8 and WebAssembly reserve far more than they use. Memory is
  // the cgroup's business, and so is the number of processes.
  const Limit values[] = {
      {RLIMIT_CORE, 1},
      {RLIMIT_NOFILE, 4096},
      {RLIMIT_FSIZE, limits.disk},
      {RLIMIT_MEMLOCK, 64 << 10},
      {RLIMIT_STACK, 8 << 20},
      {RLIMIT_MSGQUEUE, 0},
      {RLIMIT_RTPRIO, 0},
      {RLIMIT_NICE, 0},
      {RLIMIT_SIGPENDING, 256},
      {RLIMIT_LOCKS, 1024},
      {RLIMIT_NPROC, cgroup_counts_processes ? RLIM_INFINITY : limits.pids},
  };
  for (const Limit& limit : values) {
    rlimit current{};
    ::getrlimit(static_cast<__rlimit_resource_t>(limit.resource), &current);
    const rlim_t value = limit.value < current.rlim_max ? limit.value : current.rlim_max;
    const rlimit wanted{value, value};
    if (::setrlimit(static_cast<__rlimit_resource_t>(limit.resource), &wanted) != 0) return errno;
  }
  return 0;
}

namespace {

// Constants newer than Debian 12's kernel headers.
constexpr uint64_t kAccessRefer = 1ull << 13;     // ABI 2
constexpr uint64_t kAccessTruncate = 1ull << 14;  // ABI 3
constexpr uint64_t kAccessIoctlDev = 1ull << 15;  // ABI 5

constexpr uint64_t kRead =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kDevice = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
constexpr uint64_t kMakeDevice = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;

uint64_t known_accesses(unsigned abi) {
  uint64_t all = (1ull << 13) - 1;
  if (abi >= 2) all |= kAccessRefer;
  if (abi >= 3) all |= kAccessTruncate;
  if (abi >= 5) all |= kAccessIoctlDev;
  return all;
}

int allow(int ruleset, const char* path, uint64_t accesses) {
  const Fd parent{::open(path, O_PATH | O_CLOEXEC)};
  if (!parent) return errno;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = accesses;
  rule.parent_fd = parent.get();
  return ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0
             ? 0
             : errno;
}

}  // namespace

unsigned landlock_abi() {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? static_cast<unsigned>(version) : 0;
}

int restrict_files(unsigned& abi) {
  abi = landlock_abi();
  if (abi == 0) return 0;
  const uint64_t all = known_accesses(abi);
  // Not `scoped`: programs of one sandbox are separate Landlock domains but may signal each other,
  // and what is outside is out of reach by pid and network namespace already.
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = all;
  const Fd ruleset{
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0))};
  if (!ruleset) return errno;
  if (const int error = allow(ruleset.get(), "/", kRead)) return error;
  for (const char* path : {"/workspace", "/home/node", "/tmp", "/dev/shm"}) {
    if (const int error = allow(ruleset.get(), path, all & ~kMakeDevice & ~kAccessIoctlDev))
      return error;
  }
  const uint64_t device = kDevice | (all & kAccessTruncate);
  for (const char* path : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}) {
    if (const int error = allow(ruleset.get(), path, device)) return error;
  }
  return ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0 ? 0 : errno;
}

namespace {

bool has_no_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (::syscall(SYS_capget, &header, sets) != 0) return false;
  for (const __user_cap_data_struct& set : sets) {
    if ((set.effective | set.permitted | set.inheritable) != 0) return false;
  }
  return ::prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 0;
}

// True if the kernel refuses; a call that unexpectedly works is exactly what this looks for.
bool refused(long result) {
  return result == -1 && (errno == ENOSYS || errno == EPERM || errno == EACCES);
}

}  // namespace

int check_posture(bool has_own_ids) {
  uid_t real = 0;
  uid_t effective = 0;
  uid_t saved = 0;
  ::getresuid(&real, &effective, &saved);
  const bool as_node = real == kNodeId && effective == kNodeId && saved == kNodeId &&
                       ::getgid() == kNodeId && (!has_own_ids || ::getgroups(0, nullptr) == 0);
  const bool locked = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 &&
                      ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER &&
                      has_no_capabilities();
  const bool sealed =
      refused(::unshare(CLONE_NEWUSER)) && refused(::syscall(SYS_mount, 0, 0, 0, 0, 0)) &&
      refused(::syscall(SYS_ptrace, 0, 0, 0, 0)) && refused(::syscall(SYS_bpf, 0, 0, 0)) &&
      refused(::syscall(SYS_setns, -1, 0)) && refused(::syscall(SYS_io_uring_setup, 1, 0)) &&
      refused(::socket(AF_PACKET, SOCK_RAW, 0)) && refused(::syscall(SYS_keyctl, 0, 0, 0)) &&
      refused(::syscall(SYS_open_by_handle_at, -1, 0, 0));
  return as_node && locked && sealed ? 0 : EPROTO;
}

}  // namespace belljar::launcher
