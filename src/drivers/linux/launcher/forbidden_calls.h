#pragma once

#include <sys/syscall.h>

#include <cerrno>

// A sample of what sandbox/seccomp_policy.h forbids, as calls that a process makes to see that its
// filters work. The arguments are such that a call that is let through does nothing: bad pointers,
// bad descriptors, bad flags. The kernel then answers something else than the filters do.
namespace belljar::launcher {

struct ForbiddenCall {
  const char* name;
  long number;
  int error;  // what the filters answer
  long arguments[5];
};

// clang-format off
inline constexpr ForbiddenCall kForbiddenCalls[] = {
    // not on the list of names
    {"unshare", SYS_unshare, ENOSYS, {0}},
    {"setns", SYS_setns, ENOSYS, {-1, 0}},
    {"clone3", SYS_clone3, ENOSYS, {0, 0}},
    {"mount", SYS_mount, ENOSYS, {1, 1, 1, 0, 0}},
    {"umount2", SYS_umount2, ENOSYS, {1, 0}},
    {"pivot_root", SYS_pivot_root, ENOSYS, {1, 1}},
    {"chroot", SYS_chroot, ENOSYS, {1}},
    {"fsopen", SYS_fsopen, ENOSYS, {1, -1}},
    {"fsconfig", SYS_fsconfig, ENOSYS, {-1, -1, 0, 0, 0}},
    {"fsmount", SYS_fsmount, ENOSYS, {-1, -1, 0}},
    {"fspick", SYS_fspick, ENOSYS, {-1, 1, -1}},
    {"open_tree", SYS_open_tree, ENOSYS, {-1, 1, -1}},
    {"move_mount", SYS_move_mount, ENOSYS, {-1, 1, -1, 1, -1}},
    {"mount_setattr", SYS_mount_setattr, ENOSYS, {-1, 1, -1, 0, 0}},
    {"openat2", SYS_openat2, ENOSYS, {-1, 1, 0, 0}},
    {"open_by_handle_at", SYS_open_by_handle_at, ENOSYS, {-1, 1, 0}},
    {"name_to_handle_at", SYS_name_to_handle_at, ENOSYS, {-1, 1, 1, 1, -1}},
    {"ptrace", SYS_ptrace, ENOSYS, {-1, -1, 0, 0}},
    {"process_vm_readv", SYS_process_vm_readv, ENOSYS, {-1, 0, 0, 0, 0}},
    {"process_vm_writev", SYS_process_vm_writev, ENOSYS, {-1, 0, 0, 0, 0}},
    {"pidfd_getfd", SYS_pidfd_getfd, ENOSYS, {-1, -1, -1}},
    {"kcmp", SYS_kcmp, ENOSYS, {-1, -1, -1, 0, 0}},
    {"bpf", SYS_bpf, ENOSYS, {-1, 0, 0}},
    {"perf_event_open", SYS_perf_event_open, ENOSYS, {1, 0, -1, -1, -1}},
    {"userfaultfd", SYS_userfaultfd, ENOSYS, {-1}},
    {"io_uring_setup", SYS_io_uring_setup, ENOSYS, {0, 1}},
    {"io_setup", SYS_io_setup, ENOSYS, {0, 1}},
    {"keyctl", SYS_keyctl, ENOSYS, {-1, 0, 0, 0, 0}},
    {"add_key", SYS_add_key, ENOSYS, {1, 1, 0, 0, 0}},
    {"request_key", SYS_request_key, ENOSYS, {1, 1, 0, 0}},
    {"seccomp", SYS_seccomp, ENOSYS, {-1, -1, 0}},
    {"execveat", SYS_execveat, ENOSYS, {-1, 1, 0, 0, -1}},
    {"memfd_secret", SYS_memfd_secret, ENOSYS, {-1}},
    {"vmsplice", SYS_vmsplice, ENOSYS, {-1, 1, 1, 0}},
    {"finit_module", SYS_finit_module, ENOSYS, {-1, 1, -1}},
    {"kexec_load", SYS_kexec_load, ENOSYS, {0, 0, 0, -1}},
    {"reboot", SYS_reboot, ENOSYS, {0, 0, 0, 0}},
    {"swapon", SYS_swapon, ENOSYS, {1, -1}},
    {"shmget", SYS_shmget, ENOSYS, {1, 0, 0}},
    {"fanotify_init", SYS_fanotify_init, ENOSYS, {-1, -1}},
    {"landlock_create_ruleset", SYS_landlock_create_ruleset, ENOSYS, {1, 0, -1}},
    // allowed, but not in these forms
    {"socket AF_PACKET", SYS_socket, ENOSYS, {17, -1, 0}},
    {"socket AF_ALG", SYS_socket, ENOSYS, {38, -1, 0}},
    {"socket AF_VSOCK", SYS_socket, ENOSYS, {40, -1, 0}},
    {"clone CLONE_NEWUSER", SYS_clone, EPERM, {0x10000000 | 0x200, 0, 0, 0, 0}},  // and CLONE_FS: EINVAL
    {"ioctl TIOCSTI", SYS_ioctl, EPERM, {-1, 0x5412, 0}},
    {"ioctl TIOCSTI, high bit", SYS_ioctl, EPERM, {-1, 0x100005412, 0}},
    {"setsockopt TCP_ULP", SYS_setsockopt, EPERM, {-1, 6, 31, 0, 0}},
    {"prctl PR_SET_SECCOMP", SYS_prctl, EPERM, {22, -1, 0, 0, 0}},
    {"futex FUTEX_LOCK_PI", SYS_futex, ENOSYS, {1, 6, 0, 0, 0}},
};
// clang-format on

}  // namespace belljar::launcher
