#pragma once

#include <linux/mount.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

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

inline int pidfd_open(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

inline int pidfd_kill(int pidfd, int signal) {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

// fork() with flags. A copy of the address space, never CLONE_VM: a child that enters a sandbox can
// be stopped by what runs there, and must not be able to hold up the launcher.
inline pid_t clone_process(unsigned long flags) {
#if defined(__x86_64__) || defined(__aarch64__)
  return static_cast<pid_t>(
      ::syscall(SYS_clone, flags | 17 /* SIGCHLD */, nullptr, nullptr, nullptr, nullptr));
#else
#error "the order of clone's arguments is known for x86-64 and arm64 only"
#endif
}

}  // namespace belljar::launcher
