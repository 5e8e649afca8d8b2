#pragma once

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

// System calls that glibc 2.36 has no wrapper for, or whose wrapper is in the way.
namespace belljar::launcher {

inline int open_tree(int directory, const char* path, unsigned flags) {
  return static_cast<int>(::syscall(SYS_open_tree, directory, path, flags));
}

inline int move_mount(int from, const char* from_path, int to, const char* to_path,
                      unsigned flags) {
  return static_cast<int>(::syscall(SYS_move_mount, from, from_path, to, to_path, flags));
}

inline int mount_setattr(int directory, const char* path, unsigned flags, mount_attr* attributes) {
  return static_cast<int>(
      ::syscall(SYS_mount_setattr, directory, path, flags, attributes, sizeof *attributes));
}

inline int fsopen(const char* type) {
  return static_cast<int>(::syscall(SYS_fsopen, type, FSOPEN_CLOEXEC));
}

inline int fsconfig(int context, unsigned command, const char* key, const char* value) {
  return static_cast<int>(::syscall(SYS_fsconfig, context, command, key, value, 0));
}

inline int fsmount(int context, unsigned attributes = 0) {
  return static_cast<int>(::syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes));
}

// A handle of a directory, without following anything on the way: not even what replaces it
// meanwhile.
inline int open_directory_beneath(int directory, const char* path) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, directory, path, &how, sizeof how));
}

inline int pidfd_open(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

inline int pidfd_kill(int pidfd, int signal) {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

// fork() with flags, and in v2 straight into a cgroup: entering one later takes a global lock and
// waits for an RCU grace period, some ten milliseconds. A copy of the address space, never
// CLONE_VM: a child that enters a sandbox can be stopped by what runs there, and must not be able
// to hold up the launcher.
// `number`: the pid it gets, if that is free; 0 for the next one.
inline pid_t clone_process(uint64_t flags, int cgroup = -1, pid_t number = 0) {
  clone_args arguments{};
  if (number != 0) {
    arguments.set_tid = reinterpret_cast<uint64_t>(&number);
    arguments.set_tid_size = 1;
  }
  arguments.flags = flags;
  // With CLONE_PARENT the child has the exit signal of its creator, and naming one is an error.
  arguments.exit_signal = (flags & CLONE_PARENT) != 0 ? 0 : SIGCHLD;
  if (cgroup >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<uint64_t>(cgroup);
  }
  return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

// Of a clock that never goes back.
inline uint64_t now_millis() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1000000;
}

}  // namespace belljar::launcher
