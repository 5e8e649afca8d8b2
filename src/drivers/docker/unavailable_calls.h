#pragma once

namespace belljar::docker {

// What kernels have besides the calls of sandbox/seccomp_policy.h, so that they can be answered
// with ENOSYS by name. What an engine answers to calls that a profile does not name depends on its
// version, and libc only takes its fallback paths for this one. A new call that is missing here is
// refused all the same. Engines skip names that they do not know.
// clang-format off
inline constexpr const char* kUnavailable[] = {
    "_sysctl", "acct", "add_key", "adjtimex", "afs_syscall", "bpf", "chroot", "clock_adjtime",
    "clock_settime", "clone3", "create_module", "delete_module", "epoll_ctl_old",
    "epoll_wait_old", "execveat", "fanotify_init", "fanotify_mark", "file_getattr",
    "file_setattr", "finit_module", "fsconfig", "fsmount", "fsopen", "fspick", "futex_requeue",
    "futex_wait", "futex_wake", "get_kernel_syms", "get_mempolicy", "get_thread_area",
    "getpmsg", "getxattrat", "init_module", "io_cancel", "io_destroy", "io_getevents",
    "io_pgetevents", "io_setup", "io_submit", "io_uring_enter", "io_uring_register",
    "io_uring_setup", "ioperm", "iopl", "ioprio_set", "kcmp", "kexec_file_load", "kexec_load",
    "keyctl", "landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self",
    "listmount", "listns", "listxattrat", "lookup_dcookie", "lsm_get_self_attr",
    "lsm_list_modules", "lsm_set_self_attr", "map_shadow_stack", "mbind", "memfd_secret",
    "migrate_pages", "mlockall", "modify_ldt", "mount", "mount_setattr", "move_mount",
    "move_pages", "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend",
    "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd", "munlockall", "name_to_handle_at",
    "nfsservctl", "open_by_handle_at", "open_tree", "open_tree_attr", "openat2",
    "perf_event_open", "pidfd_getfd", "pivot_root", "process_madvise", "process_mrelease",
    "process_vm_readv", "process_vm_writev", "ptrace", "putpmsg", "query_module", "quotactl",
    "quotactl_fd", "reboot", "remap_file_pages", "removexattrat", "request_key",
    "sched_getattr", "sched_setattr", "sched_setparam", "sched_setscheduler", "seccomp",
    "security", "semctl", "semget", "semop", "semtimedop", "set_mempolicy",
    "set_mempolicy_home_node", "set_thread_area", "setdomainname", "sethostname", "setns",
    "settimeofday", "setxattrat", "shmat", "shmctl", "shmdt", "shmget", "statmount", "swapoff",
    "swapon", "sync", "syncfs", "sysfs", "syslog", "tuxcall", "umount2", "unshare", "uprobe",
    "uretprobe", "uselib", "userfaultfd", "ustat", "vhangup", "vmsplice", "vserver",
};
// clang-format on

}  // namespace belljar::docker
