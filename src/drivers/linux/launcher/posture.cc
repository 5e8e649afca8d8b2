#include "drivers/linux/launcher/posture.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/fd.h"
#include "drivers/linux/launcher/confine.h"
#include "drivers/linux/launcher/forbidden_calls.h"
#include "drivers/linux/launcher/report.h"

namespace belljar::launcher {

namespace {

// The pid namespace is not among them: who enters a sandbox is born in the sandbox's.
constexpr const char* kNamespaceFiles[Outside::kNamespaces] = {
    "/proc/self/ns/user", "/proc/self/ns/mnt", "/proc/self/ns/net",
    "/proc/self/ns/ipc",  "/proc/self/ns/uts", "/proc/self/ns/cgroup"};

constexpr unsigned kNobody = 65534;  // how the kernel shows ids that a user namespace does not know

const char* check_ids(const Posture&) {
  uid_t users[3] = {};
  gid_t groups[3] = {};
  ::getresuid(&users[0], &users[1], &users[2]);
  ::getresgid(&groups[0], &groups[1], &groups[2]);
  for (int i = 0; i < 3; ++i) {
    if (users[i] != kNodeId || groups[i] != kNodeId) return "user and group ids";
  }
  return nullptr;
}

// True where an ordinary user's sandbox may not give up the groups that the user is in.
bool groups_are_locked() {
  char word[8] = {};
  const Fd file{::open("/proc/self/setgroups", O_RDONLY | O_CLOEXEC)};
  return file && ::read(file.get(), word, sizeof word - 1) > 0 &&
         std::strncmp(word, "deny", 4) == 0;
}

const char* check_groups(const Posture&) {
  constexpr const char* kName = "supplementary groups";
  const int count = ::getgroups(0, nullptr);
  if (count == 0) return nullptr;
  gid_t groups[256];
  if (count < 0 || count > 256 || ::getgroups(count, groups) != count || !groups_are_locked())
    return kName;
  for (int i = 0; i < count; ++i) {
    if (groups[i] != kNobody && groups[i] != kNodeId) return kName;
  }
  return nullptr;
}

const char* check_capabilities(const Posture&) {
  constexpr const char* kName = "capabilities";
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (::syscall(SYS_capget, &header, sets) != 0) return kName;
  for (const __user_cap_data_struct& set : sets) {
    if ((set.effective | set.permitted | set.inheritable) != 0) return kName;
  }
  return nullptr;
}

const char* check_bounding_set(const Posture&) {
  for (int capability = 0;; ++capability) {
    const int held = ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (held < 0) return capability > CAP_SYS_ADMIN ? nullptr : "bounding set";  // the last one
    if (held != 0) return "bounding set";
  }
}

const char* check_ambient_set(const Posture&) {
  for (int capability = 0;; ++capability) {
    const int held = ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0);
    if (held < 0) return capability > CAP_SYS_ADMIN ? nullptr : "ambient capabilities";
    if (held != 0) return "ambient capabilities";
  }
}

const char* check_securebits(const Posture&) {
  return ::prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) == kSecureBits ? nullptr : "securebits";
}

const char* check_no_new_privileges(const Posture&) {
  return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? nullptr : "no_new_privs";
}

const char* check_seccomp_mode(const Posture&) {
  return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER ? nullptr : "seccomp mode";
}

const char* check_dumpable(const Posture&) {
  return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? nullptr : "dumpable";
}

const char* check_threads(const Posture&) {
  struct stat info;
  // The kernel counts every thread as a link.
  return ::stat("/proc/self/task", &info) == 0 && info.st_nlink == 3 ? nullptr : "threads";
}

const char* check_descriptors(const Posture& posture) {
  constexpr const char* kName = "descriptors";
  alignas(dirent64) char entries[1024];
  const Fd directory{::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!directory) return kName;
  const auto& allowed = posture.descriptors;
  int standard = 0;
  ssize_t size = 0;
  while ((size = ::getdents64(directory.get(), entries, sizeof entries)) > 0) {
    for (ssize_t at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      if (entry->d_name[0] == '.') continue;
      int fd = 0;
      for (const char* digit = entry->d_name; *digit != '\0'; ++digit)
        fd = fd * 10 + (*digit - '0');
      if (fd == directory.get()) continue;
      if (fd <= 2) {
        ++standard;
      } else if (std::find(allowed.begin(), allowed.end(), fd) == allowed.end()) {
        return kName;
      }
    }
  }
  if (size < 0) return kName;
  return standard == 3 ? nullptr : kName;
}

const char* check_namespaces(const Posture& posture) {
  for (int i = 0; i < Outside::kNamespaces; ++i) {
    struct stat info;
    if (::stat(kNamespaceFiles[i], &info) != 0 || info.st_ino == posture.outside.namespaces[i])
      return kNamespaceFiles[i];
  }
  return nullptr;
}

// The parent is the launcher; a process of another pid namespace has the number 0.
const char* check_pid_namespace(const Posture&) {
  return ::getppid() == 0 ? nullptr : "pid namespace";
}

const char* check_root(const Posture& posture) {
  struct stat info;
  if (::stat("/", &info) != 0) return "root directory";
  const bool outside =
      info.st_dev == posture.outside.root_device && info.st_ino == posture.outside.root;
  return outside ? "root directory" : nullptr;
}

const char* check_mounts(const Posture&) {
  struct Mount {
    const char* path;
    unsigned long flags;
  };
  constexpr Mount kMounts[] = {{"/", ST_NOSUID | ST_NODEV},
                               {"/usr", ST_RDONLY | ST_NOSUID | ST_NODEV},
                               {"/dev", ST_RDONLY | ST_NOSUID | ST_NOEXEC},
                               {"/workspace", ST_NOSUID | ST_NODEV}};
  for (const Mount& mount : kMounts) {
    struct statvfs info;
    if (::statvfs(mount.path, &info) != 0 || (info.f_flag & mount.flags) != mount.flags)
      return mount.path;
  }
  return nullptr;
}

const char* check_limits(const Posture& posture) {
  for (const ResourceLimit& limit :
       resource_limits(posture.limits, posture.cgroup_counts_processes)) {
    rlimit current{};
    ::getrlimit(static_cast<__rlimit_resource_t>(limit.resource), &current);
    if (current.rlim_cur != current.rlim_max || current.rlim_max > limit.value)
      return "resource limits";
  }
  return nullptr;
}

const char* check_session(const Posture&) {
  return ::getsid(0) == ::getpid() ? nullptr : "session";
}

const char* check_forbidden_calls(const Posture&) {
  for (const ForbiddenCall& call : kForbiddenCalls) {
    const auto& a = call.arguments;
    if (::syscall(call.number, a[0], a[1], a[2], a[3], a[4]) != -1 || errno != call.error)
      return call.name;
  }
  return nullptr;
}

constexpr PostureCheck kChecks[] = {
    check_seccomp_mode,  // first: without the filters the forbidden calls are real ones
    check_forbidden_calls, check_ids,         check_groups,      check_capabilities,
    check_bounding_set,    check_ambient_set, check_securebits,  check_no_new_privileges,
    check_dumpable,        check_threads,     check_descriptors, check_namespaces,
    check_pid_namespace,   check_root,        check_mounts,      check_limits,
    check_session,
};

}  // namespace

int look_outside(Outside& outside) {
  struct stat info;
  for (int i = 0; i < Outside::kNamespaces; ++i) {
    if (::stat(kNamespaceFiles[i], &info) != 0) return errno;
    outside.namespaces[i] = info.st_ino;
  }
  if (::stat("/", &info) != 0) return errno;
  outside.root_device = info.st_dev;
  outside.root = info.st_ino;
  return 0;
}

std::span<const PostureCheck> posture_checks() {
  return kChecks;
}

const char* find_difference(const Posture& posture) {
  for (const PostureCheck check : kChecks) {
    if (const char* difference = check(posture)) return difference;
  }
  return nullptr;
}

int check_posture(const Posture& posture, int status) {
  const char* const difference = find_difference(posture);
  if (difference == nullptr) return 0;
  char step[sizeof Report::step];
  std::snprintf(step, sizeof step, "check the posture: %s", difference);
  report_failure_and_exit(status, step, EPROTO);
}

}  // namespace belljar::launcher
