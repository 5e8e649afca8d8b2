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
#include <pthread.h>
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
#include <string>

namespace {

// lib/plan.mjs writes and reads the same.
struct Call {
  char name[24];
  uint64_t site;  // the return address, relative to the program's first byte
};
struct Plan {
  Call fault;         // `site` is filled in when it comes about
  uint32_t nth;       // from 1; 0 records
  int32_t error;      // errno, or 0: one byte is read or written and no more
  uint32_t capacity;  // of `calls`
  std::atomic<uint32_t> seen;
  std::atomic<uint32_t> fired;
  std::atomic<uint32_t> ended;  // the program has returned from main
  std::atomic<uint32_t> recorded;
  uint32_t reserved;
  Call calls[1];
};

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

struct Loaded {
  Plan* plan = load_plan();
  const pid_t owner = ::getpid();
  ~Loaded() {
    if (plan != nullptr && owner == ::getpid()) plan->ended = 1;
  }
};

Plan* the_plan() {
  static Loaded loaded;
  return loaded.plan;
}

// True if this is the call that is to fail.
bool is_chosen(const char* name, void* caller) {
  Plan* plan = the_plan();
  if (plan == nullptr) return false;
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

// WRAP(result, name, parameters): declares the real function and begins the one in its place.
#define WRAP(result, name, ...)                 \
  extern "C" result __real_##name(__VA_ARGS__); \
  extern "C" result __wrap_##name(__VA_ARGS__)

// Functions that return -1, or a null pointer, and set errno: all that they need to know is a name.
#define FAIL(name) \
  if (fails(name, CALLER)) return -1

namespace {

extern "C" int __real_fcntl(int, int, long);

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

WRAP(int, open, const char* path, int flags, mode_t mode) {
  FAIL(kind_of_open(flags));
  return __real_open(path, flags, mode);
}
WRAP(int, open64, const char* path, int flags, mode_t mode) {
  FAIL(kind_of_open(flags));
  return __real_open64(path, flags, mode);
}
WRAP(int, openat, int directory, const char* path, int flags, mode_t mode) {
  FAIL(kind_of_open(flags));
  return __real_openat(directory, path, flags, mode);
}
WRAP(int, openat64, int directory, const char* path, int flags, mode_t mode) {
  FAIL(kind_of_open(flags));
  return __real_openat64(directory, path, flags, mode);
}
WRAP(DIR*, opendir, const char* path) {
  return fails("opendir", CALLER) ? nullptr : __real_opendir(path);
}
WRAP(DIR*, fdopendir, int fd) {
  return fails("fdopendir", CALLER) ? nullptr : __real_fdopendir(fd);
}
WRAP(dirent*, readdir, DIR* entries) {
  return fails("readdir", CALLER) ? nullptr : __real_readdir(entries);
}
WRAP(int, stat, const char* path, struct stat* info) {
  FAIL("stat");
  return __real_stat(path, info);
}
WRAP(int, lstat, const char* path, struct stat* info) {
  FAIL("stat");
  return __real_lstat(path, info);
}
WRAP(int, fstat, int fd, struct stat* info) {
  FAIL("stat");
  return __real_fstat(fd, info);
}
WRAP(int, fstatat, int directory, const char* path, struct stat* info, int flags) {
  FAIL("stat");
  return __real_fstatat(directory, path, info, flags);
}
WRAP(int, statx, int directory, const char* path, int flags, unsigned mask, struct statx* info) {
  FAIL("stat");
  return __real_statx(directory, path, flags, mask, info);
}
WRAP(int, access, const char* path, int mode) {
  FAIL("access");
  return __real_access(path, mode);
}
WRAP(int, faccessat, int directory, const char* path, int mode, int flags) {
  FAIL("access");
  return __real_faccessat(directory, path, mode, flags);
}
WRAP(ssize_t, readlink, const char* path, char* buffer, size_t size) {
  FAIL("readlink");
  return __real_readlink(path, buffer, size);
}
WRAP(ssize_t, readlinkat, int directory, const char* path, char* buffer, size_t size) {
  FAIL("readlink");
  return __real_readlinkat(directory, path, buffer, size);
}
WRAP(int, mkdir, const char* path, mode_t mode) {
  FAIL("mkdir");
  return __real_mkdir(path, mode);
}
WRAP(int, mkdirat, int directory, const char* path, mode_t mode) {
  FAIL("mkdir");
  return __real_mkdirat(directory, path, mode);
}
WRAP(int, symlinkat, const char* target, int directory, const char* path) {
  FAIL("symlink");
  return __real_symlinkat(target, directory, path);
}
WRAP(int, rename, const char* from, const char* to) {
  FAIL("rename");
  return __real_rename(from, to);
}
WRAP(int, renameat2, int from, const char* old_path, int to, const char* path, unsigned flags) {
  FAIL("rename");
  return __real_renameat2(from, old_path, to, path, flags);
}
WRAP(int, unlink, const char* path) {
  FAIL("unlink");
  return __real_unlink(path);
}
WRAP(int, unlinkat, int directory, const char* path, int flags) {
  FAIL("unlink");
  return __real_unlinkat(directory, path, flags);
}
WRAP(int, fchmod, int fd, mode_t mode) {
  FAIL("chmod");
  return __real_fchmod(fd, mode);
}
WRAP(int, fchmodat, int directory, const char* path, mode_t mode, int flags) {
  FAIL("chmod");
  return __real_fchmodat(directory, path, mode, flags);
}
WRAP(int, fchown, int fd, uid_t user, gid_t group) {
  FAIL("chown");
  return __real_fchown(fd, user, group);
}
WRAP(int, fchownat, int directory, const char* path, uid_t user, gid_t group, int flags) {
  FAIL("chown");
  return __real_fchownat(directory, path, user, group, flags);
}
WRAP(int, ftruncate, int fd, off_t size) {
  FAIL("ftruncate");
  return __real_ftruncate(fd, size);
}
WRAP(int, fsync, int fd) {
  FAIL("fsync");
  return __real_fsync(fd);
}
WRAP(int, flock, int fd, int operation) {
  FAIL("flock");
  return __real_flock(fd, operation);
}
WRAP(int, chdir, const char* path) {
  FAIL("chdir");
  return __real_chdir(path);
}

// Descriptors

WRAP(int, fcntl, int fd, int command, long argument) {
  if (command == F_DUPFD_CLOEXEC || command == F_DUPFD) FAIL("dup");
  return __real_fcntl(fd, command, argument);
}
WRAP(int, fcntl64, int fd, int command, long argument) {
  if (command == F_DUPFD_CLOEXEC || command == F_DUPFD) FAIL("dup");
  return __real_fcntl64(fd, command, argument);
}
WRAP(int, dup2, int from, int to) {
  FAIL("dup2");
  return __real_dup2(from, to);
}
WRAP(int, pipe, int* ends) {
  FAIL("pipe");
  return __real_pipe(ends);
}
WRAP(int, pipe2, int* ends, int flags) {
  FAIL("pipe");
  return __real_pipe2(ends, flags);
}
WRAP(int, eventfd, unsigned count, int flags) {
  FAIL("eventfd");
  return __real_eventfd(count, flags);
}
WRAP(int, signalfd, int fd, const sigset_t* mask, int flags) {
  FAIL("signalfd");
  return __real_signalfd(fd, mask, flags);
}
WRAP(int, timerfd_create, int clock, int flags) {
  FAIL("timerfd_create");
  return __real_timerfd_create(clock, flags);
}
WRAP(int, memfd_create, const char* name, unsigned flags) {
  FAIL("memfd_create");
  return __real_memfd_create(name, flags);
}
WRAP(int, inotify_init1, int flags) {
  FAIL("inotify_init");
  return __real_inotify_init1(flags);
}
WRAP(int, inotify_add_watch, int fd, const char* path, uint32_t mask) {
  FAIL("inotify_add_watch");
  return __real_inotify_add_watch(fd, path, mask);
}
WRAP(int, epoll_create1, int flags) {
  FAIL("epoll_create");
  return __real_epoll_create1(flags);
}
WRAP(int, epoll_ctl, int epoll, int operation, int fd, epoll_event* event) {
  if (operation == EPOLL_CTL_ADD) FAIL("epoll_ctl");
  return __real_epoll_ctl(epoll, operation, fd, event);
}
WRAP(int, epoll_wait, int epoll, epoll_event* events, int count, int timeout) {
  FAIL("poll");
  return __real_epoll_wait(epoll, events, count, timeout);
}
WRAP(int, poll, pollfd* waits_for, nfds_t count, int timeout) {
  FAIL("poll");
  return __real_poll(waits_for, count, timeout);
}
WRAP(ssize_t, read, int fd, void* data, size_t size) {
  const ssize_t count = allowed(kind_of_read(fd), CALLER, size);
  return count < 0 ? -1 : __real_read(fd, data, static_cast<size_t>(count));
}
WRAP(ssize_t, pread, int fd, void* data, size_t size, off_t at) {
  const ssize_t count = allowed("read", CALLER, size);
  return count < 0 ? -1 : __real_pread(fd, data, static_cast<size_t>(count), at);
}
WRAP(ssize_t, readv, int fd, const iovec* parts, int count) {
  const ssize_t size = allowed(kind_of_read(fd), CALLER, SIZE_MAX / 2);
  if (size < 0) return -1;
  return size == 1 ? __real_read(fd, parts->iov_base, 1) : __real_readv(fd, parts, count);
}
WRAP(ssize_t, write, int fd, const void* data, size_t size) {
  const ssize_t count = allowed(kind_of_write(fd), CALLER, size);
  return count < 0 ? -1 : __real_write(fd, data, static_cast<size_t>(count));
}
WRAP(ssize_t, writev, int fd, const iovec* parts, int count) {
  const ssize_t size = allowed(kind_of_write(fd), CALLER, SIZE_MAX / 2);
  if (size < 0) return -1;
  return size == 1 ? __real_write(fd, parts->iov_base, 1) : __real_writev(fd, parts, count);
}
WRAP(ssize_t, sendfile, int to, int from, off_t* at, size_t size) {
  const ssize_t count = allowed("write", CALLER, size);
  return count < 0 ? -1 : __real_sendfile(to, from, at, static_cast<size_t>(count));
}

// Sockets

WRAP(int, socket, int domain, int type, int protocol) {
  FAIL("socket");
  return __real_socket(domain, type, protocol);
}
WRAP(int, socketpair, int domain, int type, int protocol, int* ends) {
  FAIL("socket");
  return __real_socketpair(domain, type, protocol, ends);
}
WRAP(int, bind, int fd, const sockaddr* address, socklen_t size) {
  FAIL("bind");
  return __real_bind(fd, address, size);
}
WRAP(int, listen, int fd, int backlog) {
  FAIL("bind");
  return __real_listen(fd, backlog);
}
WRAP(int, connect, int fd, const sockaddr* address, socklen_t size) {
  FAIL("connect");
  return __real_connect(fd, address, size);
}
WRAP(ssize_t, recvmsg, int fd, msghdr* message, int flags) {
  FAIL(waits(fd) ? "recvmsg" : "recvmsg ready");
  return __real_recvmsg(fd, message, flags);
}
WRAP(ssize_t, sendmsg, int fd, const msghdr* message, int flags) {
  FAIL(waits(fd) ? "sendmsg" : "sendmsg ready");
  return __real_sendmsg(fd, message, flags);
}

// Processes, namespaces and rights

WRAP(int, posix_spawn, pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
     const posix_spawnattr_t* attributes, char* const* argv, char* const* envp) {
  if (fails("posix_spawn", CALLER)) return errno;
  return __real_posix_spawn(pid, path, actions, attributes, argv, envp);
}
WRAP(int, pthread_create, pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
     void* argument) {
  if (fails("pthread_create", CALLER)) return errno;
  return __real_pthread_create(thread, attributes, run, argument);
}
WRAP(pid_t, waitpid, pid_t pid, int* status, int options) {
  FAIL("wait");
  return __real_waitpid(pid, status, options);
}
WRAP(pid_t, wait4, pid_t pid, int* status, int options, rusage* usage) {
  FAIL("wait");
  return __real_wait4(pid, status, options, usage);
}
WRAP(int, execve, const char* path, char* const* argv, char* const* envp) {
  FAIL("execve");
  return __real_execve(path, argv, envp);
}
WRAP(int, setns, int fd, int type) {
  FAIL("setns");
  return __real_setns(fd, type);
}
WRAP(int, unshare, int flags) {
  FAIL("unshare");
  return __real_unshare(flags);
}
WRAP(int, mount, const char* source, const char* target, const char* type, unsigned long flags,
     const void* data) {
  FAIL("mount");
  return __real_mount(source, target, type, flags, data);
}
WRAP(int, umount2, const char* target, int flags) {
  FAIL("umount");
  return __real_umount2(target, flags);
}
WRAP(int, setresuid, uid_t real, uid_t effective, uid_t saved) {
  FAIL("set ids");
  return __real_setresuid(real, effective, saved);
}
WRAP(int, setresgid, gid_t real, gid_t effective, gid_t saved) {
  FAIL("set ids");
  return __real_setresgid(real, effective, saved);
}
WRAP(int, setgroups, size_t count, const gid_t* groups) {
  FAIL("set ids");
  return __real_setgroups(count, groups);
}
WRAP(int, prctl, int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  FAIL("prctl");
  return __real_prctl(option, a, b, c, d);
}

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
    {SYS_pivot_root, "pivot_root"},
    {SYS_seccomp, "seccomp"},
    {SYS_landlock_create_ruleset, "landlock_create"},
    {SYS_landlock_add_rule, "landlock_add"},
    {SYS_landlock_restrict_self, "landlock_restrict"},
    {SYS_capset, "capset"},
    {SYS_openat2, "open"},
};

}  // namespace

// A forked child returns from here too, on its copy of the stack.
WRAP(long, syscall, long number, long a, long b, long c, long d, long e, long f) {
  for (const Number& known : kNumbers) {
    if (known.number == number) FAIL(known.name);
  }
  return __real_syscall(number, a, b, c, d, e, f);
}

// operator new(size_t), from the moment on when the program says what is to happen.
WRAP(void*, _Znwm, size_t size) {
  const std::new_handler on_failure = std::get_new_handler();
  if (on_failure != nullptr && fails("new", CALLER)) on_failure();
  return __real__Znwm(size);
}
