// Makes one chosen system call of a program fail. Linked into belljar and belljar-launcher by the
// preset `faults` alone: the linker sends every call named by a WRAP here first (--wrap), so no
// source of the programs knows of it.
//
// The plan is the file PROGRAM.faults beside the program, shared memory of the process and all that
// it forks: which call fails, the how manieth of its name, and how. Without it nothing happens. The
// file tells afterwards whether the fault came about and where; a plan without a call records every
// call instead.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <new>
#include <system_error>
#include <type_traits>

namespace {

// lib/plan.mjs writes and reads the same.
struct Call {
  char name[24];
  uint64_t site;  // the return address, relative to the program's first byte
};
struct Plan {
  Call fault;         // `site` is filled in when it comes about
  uint32_t nth;       // from 1; 0 records
  int32_t error;      // errno, 0: one byte is read or written and no more, or kKill
  uint32_t capacity;  // of `calls`
  std::atomic<uint32_t> seen;
  std::atomic<uint32_t> fired;
  std::atomic<uint32_t> recorded;
  uint32_t reserved[2];
  Call calls[1];
};

constexpr int32_t kKill = -1;  // the process is killed before it makes the call

extern "C" char __executable_start;

extern "C" long __real_syscall(long, long, long, long, long, long, long);

// Not through what is wrapped below, which asks for the plan.
template <class... Arguments>
long direct(long number, Arguments... arguments) {
  long all[6] = {(long)arguments...};
  return __real_syscall(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}

Plan* load_plan() {
  char program[PATH_MAX];
  const long length = direct(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program, PATH_MAX - 8);
  if (length <= 0) return nullptr;
  std::memcpy(program + length, ".faults", 8);
  const long file = direct(SYS_openat, AT_FDCWD, program, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  const long size = direct(SYS_lseek, file, 0, SEEK_END);
  void* memory = ::mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED,
                        static_cast<int>(file), 0);
  direct(SYS_close, file);
  return memory == MAP_FAILED ? nullptr : static_cast<Plan*>(memory);
}

Plan* the_plan() {
  static Plan* const plan = load_plan();
  return plan;
}

// True if this is the call that is to fail.
bool is_chosen(const char* name, void* caller) {
  Plan* plan = the_plan();
  if (plan == nullptr || name == nullptr) return false;
  const auto site = static_cast<uint64_t>(static_cast<char*>(caller) - &__executable_start);
  if (plan->nth == 0) {
    const uint32_t index = plan->recorded++;
    if (index >= plan->capacity) return false;
    std::strncpy(plan->calls[index].name, name, sizeof plan->calls[index].name - 1);
    plan->calls[index].site = site;
    return false;
  }
  if (std::strcmp(plan->fault.name, name) != 0 || ++plan->seen != plan->nth) return false;
  plan->fault.site = site;
  plan->fired = 1;
  if (plan->error == kKill) direct(SYS_kill, direct(SYS_getpid), SIGKILL);
  return true;
}

bool fails(const char* name, void* caller) {
  if (!is_chosen(name, caller)) return false;
  errno = the_plan()->error;
  return true;
}

// For calls that may also be short: how many bytes to let through, or -1 with errno set.
ssize_t allowed(const char* name, void* caller, size_t size) {
  if (!is_chosen(name, caller)) return static_cast<ssize_t>(size);
  errno = the_plan()->error;
  return errno != 0 ? -1 : static_cast<ssize_t>(size < 1 ? size : 1);
}

}  // namespace

#define CALLER __builtin_return_address(0)

// WRAP(name, result, parameters) declares the real function and begins the one in its place. CALL
// is all of it for a function that fails with -1 or a null pointer and errno; `kind` is the name
// under which the plan knows the call, or null.
#define WRAP(name, result, ...)                 \
  extern "C" result __real_##name(__VA_ARGS__); \
  extern "C" result __wrap_##name(__VA_ARGS__)
#define CALL(name, result, kind, parameters, arguments)                       \
  extern "C" result __real_##name parameters;                                 \
  extern "C" result __wrap_##name parameters {                                \
    return fails(kind, CALLER) ? failure<result>() : __real_##name arguments; \
  }

namespace {

extern "C" int __real_fcntl(int, int, long);

template <class Result>
Result failure() {
  if constexpr (std::is_pointer_v<Result>)
    return nullptr;
  else
    return -1;
}

const char* kind_of_fcntl(int command) {
  return command == F_DUPFD_CLOEXEC || command == F_DUPFD ? "dup" : nullptr;
}

const char* kind_of_open(int flags) {
  return (flags & O_CREAT) != 0 ? "create" : "open";
}

bool waits(int fd) {
  return (__real_fcntl(fd, F_GETFL, 0) & O_NONBLOCK) == 0;
}

const char* kind_of_read(int fd) {
  return waits(fd) ? "read" : "read ready";
}

const char* kind_of_write(int fd) {
  return waits(fd) ? "write" : "write ready";
}

}  // namespace

// Files

CALL(open, int, kind_of_open(flags), (const char* path, int flags, mode_t mode),
     (path, flags, mode))
CALL(open64, int, kind_of_open(flags), (const char* path, int flags, mode_t mode),
     (path, flags, mode))
CALL(openat, int, kind_of_open(flags), (int directory, const char* path, int flags, mode_t mode),
     (directory, path, flags, mode))
CALL(openat64, int, kind_of_open(flags), (int directory, const char* path, int flags, mode_t mode),
     (directory, path, flags, mode))
CALL(opendir, DIR*, "opendir", (const char* path), (path))
CALL(fdopendir, DIR*, "fdopendir", (int fd), (fd))
CALL(readdir, dirent*, "readdir", (DIR * entries), (entries))
CALL(stat, int, "stat", (const char* path, struct stat* info), (path, info))
CALL(lstat, int, "stat", (const char* path, struct stat* info), (path, info))
CALL(fstat, int, "stat", (int fd, struct stat* info), (fd, info))
CALL(fstatat, int, "stat", (int directory, const char* path, struct stat* info, int flags),
     (directory, path, info, flags))
CALL(statx, int, "stat",
     (int directory, const char* path, int flags, unsigned mask, struct statx* info),
     (directory, path, flags, mask, info))
CALL(access, int, "access", (const char* path, int mode), (path, mode))
CALL(faccessat, int, "access", (int directory, const char* path, int mode, int flags),
     (directory, path, mode, flags))
CALL(readlink, ssize_t, "readlink", (const char* path, char* buffer, size_t size),
     (path, buffer, size))
CALL(readlinkat, ssize_t, "readlink", (int directory, const char* path, char* buffer, size_t size),
     (directory, path, buffer, size))
CALL(mkdir, int, "mkdir", (const char* path, mode_t mode), (path, mode))
CALL(mkdirat, int, "mkdir", (int directory, const char* path, mode_t mode), (directory, path, mode))
CALL(linkat, int, "link", (int from, const char* old_path, int to, const char* path, int flags),
     (from, old_path, to, path, flags))
CALL(symlinkat, int, "symlink", (const char* target, int directory, const char* path),
     (target, directory, path))
CALL(rename, int, "rename", (const char* from, const char* to), (from, to))
CALL(renameat2, int, "rename",
     (int from, const char* old_path, int to, const char* path, unsigned flags),
     (from, old_path, to, path, flags))
CALL(unlink, int, "unlink", (const char* path), (path))
CALL(unlinkat, int, "unlink", (int directory, const char* path, int flags),
     (directory, path, flags))
CALL(fchmod, int, "chmod", (int fd, mode_t mode), (fd, mode))
CALL(fchmodat, int, "chmod", (int directory, const char* path, mode_t mode, int flags),
     (directory, path, mode, flags))
CALL(fchown, int, "chown", (int fd, uid_t user, gid_t group), (fd, user, group))
CALL(chown, int, "chown", (const char* path, uid_t user, gid_t group), (path, user, group))
CALL(fchownat, int, "chown", (int directory, const char* path, uid_t user, gid_t group, int flags),
     (directory, path, user, group, flags))
CALL(ftruncate, int, "ftruncate", (int fd, off_t size), (fd, size))
CALL(fsync, int, "fsync", (int fd), (fd))
CALL(flock, int, "flock", (int fd, int operation), (fd, operation))
CALL(chdir, int, "chdir", (const char* path), (path))
CALL(fchdir, int, "chdir", (int directory), (directory))

// Descriptors

CALL(fcntl, int, kind_of_fcntl(command), (int fd, int command, long argument),
     (fd, command, argument))
CALL(fcntl64, int, kind_of_fcntl(command), (int fd, int command, long argument),
     (fd, command, argument))
CALL(dup2, int, "dup2", (int from, int to), (from, to))
CALL(pipe, int, "pipe", (int* ends), (ends))
CALL(pipe2, int, "pipe", (int* ends, int flags), (ends, flags))
CALL(eventfd, int, "eventfd", (unsigned count, int flags), (count, flags))
CALL(signalfd, int, "signalfd", (int fd, const sigset_t* mask, int flags), (fd, mask, flags))
CALL(timerfd_create, int, "timerfd_create", (int clock, int flags), (clock, flags))
CALL(memfd_create, int, "memfd_create", (const char* name, unsigned flags), (name, flags))
CALL(inotify_init1, int, "inotify_init", (int flags), (flags))
CALL(inotify_add_watch, int, "inotify_add_watch", (int fd, const char* path, uint32_t mask),
     (fd, path, mask))
CALL(epoll_create1, int, "epoll_create", (int flags), (flags))
CALL(epoll_ctl, int, operation == EPOLL_CTL_ADD ? "epoll_ctl" : nullptr,
     (int epoll, int operation, int fd, epoll_event* event), (epoll, operation, fd, event))
CALL(epoll_wait, int, "poll", (int epoll, epoll_event* events, int count, int timeout),
     (epoll, events, count, timeout))
CALL(poll, int, "poll", (pollfd * waits_for, nfds_t count, int timeout),
     (waits_for, count, timeout))
WRAP(read, ssize_t, int fd, void* data, size_t size) {
  const ssize_t count = allowed(kind_of_read(fd), CALLER, size);
  return count < 0 ? -1 : __real_read(fd, data, static_cast<size_t>(count));
}
WRAP(pread, ssize_t, int fd, void* data, size_t size, off_t at) {
  const ssize_t count = allowed("read", CALLER, size);
  return count < 0 ? -1 : __real_pread(fd, data, static_cast<size_t>(count), at);
}
WRAP(readv, ssize_t, int fd, const iovec* parts, int count) {
  const ssize_t size = allowed(kind_of_read(fd), CALLER, SIZE_MAX / 2);
  if (size < 0) return -1;
  return size == 1 ? __real_read(fd, parts->iov_base, 1) : __real_readv(fd, parts, count);
}
WRAP(write, ssize_t, int fd, const void* data, size_t size) {
  const ssize_t count = allowed(kind_of_write(fd), CALLER, size);
  return count < 0 ? -1 : __real_write(fd, data, static_cast<size_t>(count));
}
WRAP(writev, ssize_t, int fd, const iovec* parts, int count) {
  const ssize_t size = allowed(kind_of_write(fd), CALLER, SIZE_MAX / 2);
  if (size < 0) return -1;
  return size == 1 ? __real_write(fd, parts->iov_base, 1) : __real_writev(fd, parts, count);
}
WRAP(copy_file_range, ssize_t, int from, off_t* from_at, int to, off_t* to_at, size_t size,
     unsigned flags) {
  const ssize_t count = allowed("write", CALLER, size);
  return count < 0 ? -1 : __real_copy_file_range(from, from_at, to, to_at, count, flags);
}
WRAP(sendfile, ssize_t, int to, int from, off_t* at, size_t size) {
  const ssize_t count = allowed("write", CALLER, size);
  return count < 0 ? -1 : __real_sendfile(to, from, at, static_cast<size_t>(count));
}

// Sockets

CALL(socket, int, "socket", (int domain, int type, int protocol), (domain, type, protocol))
CALL(socketpair, int, "socket", (int domain, int type, int protocol, int* ends),
     (domain, type, protocol, ends))
CALL(bind, int, "bind", (int fd, const sockaddr* address, socklen_t size), (fd, address, size))
CALL(listen, int, "bind", (int fd, int backlog), (fd, backlog))
CALL(connect, int, "connect", (int fd, const sockaddr* address, socklen_t size),
     (fd, address, size))
CALL(recvmsg, ssize_t, waits(fd) ? "recvmsg" : "recvmsg ready",
     (int fd, msghdr* message, int flags), (fd, message, flags))
CALL(sendmsg, ssize_t, waits(fd) ? "sendmsg" : "sendmsg ready",
     (int fd, const msghdr* message, int flags), (fd, message, flags))

// Processes, namespaces and rights

WRAP(posix_spawn, int, pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
     const posix_spawnattr_t* attributes, char* const* argv, char* const* envp) {
  if (fails("posix_spawn", CALLER)) return errno;
  return __real_posix_spawn(pid, path, actions, attributes, argv, envp);
}
// std::thread
WRAP(_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE, void,
     void* thread, void* state, void (*depend)()) {
  if (fails("pthread_create", CALLER)) throw std::system_error{errno, std::generic_category()};
  __real__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
      thread, state, depend);
}
CALL(fork, pid_t, "clone", (), ())
CALL(clone, int, "clone", (int (*function)(void*), void* stack, int flags, void* argument),
     (function, stack, flags, argument))
CALL(waitpid, pid_t, "wait", (pid_t pid, int* status, int options), (pid, status, options))
CALL(wait4, pid_t, "wait", (pid_t pid, int* status, int options, rusage* usage),
     (pid, status, options, usage))
CALL(execve, int, "execve", (const char* path, char* const* argv, char* const* envp),
     (path, argv, envp))
CALL(setns, int, "setns", (int fd, int type), (fd, type))
CALL(unshare, int, "unshare", (int flags), (flags))
CALL(mount, int, "mount",
     (const char* source, const char* target, const char* type, unsigned long flags,
      const void* data),
     (source, target, type, flags, data))
CALL(umount2, int, "umount", (const char* target, int flags), (target, flags))
CALL(setresuid, int, "set ids", (uid_t real, uid_t effective, uid_t saved),
     (real, effective, saved))
CALL(setresgid, int, "set ids", (gid_t real, gid_t effective, gid_t saved),
     (real, effective, saved))
CALL(setgroups, int, "set ids", (size_t count, const gid_t* groups), (count, groups))
CALL(prctl, int, "prctl",
     (int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d),
     (option, a, b, c, d))

namespace {

struct Number {
  long number;
  const char* name;
};
constexpr Number kNumbers[] = {
    {SYS_clone3, "clone"},
    {SYS_pidfd_open, "pidfd_open"},
    {SYS_open_tree, "open_tree"},
    {SYS_move_mount, "move_mount"},
    {SYS_mount_setattr, "mount_setattr"},
    {SYS_fsopen, "fsopen"},
    {SYS_fsconfig, "fsconfig"},
    {SYS_fsmount, "fsmount"},
    {SYS_pivot_root, "pivot_root"},
    {SYS_seccomp, "seccomp"},
    {SYS_landlock_create_ruleset, "landlock_create"},
    {SYS_landlock_add_rule, "landlock_add"},
    {SYS_landlock_restrict_self, "landlock_restrict"},
    {SYS_capset, "capset"},
    {SYS_openat2, "open"},
};

const char* kind_of_syscall(long number) {
  for (const Number& known : kNumbers) {
    if (known.number == number) return known.name;
  }
  return nullptr;
}

}  // namespace

// A forked child returns from here too, on its copy of the stack.
CALL(syscall, long, kind_of_syscall(number),
     (long number, long a, long b, long c, long d, long e, long f), (number, a, b, c, d, e, f))

// operator new(size_t), from the moment on when the program says what is to happen.
WRAP(_Znwm, void*, size_t size) {
  const std::new_handler on_failure = std::get_new_handler();
  if (on_failure != nullptr && fails("new", CALLER)) on_failure();
  return __real__Znwm(size);
}
