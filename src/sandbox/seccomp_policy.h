#pragma once

// What a program in a sandbox may ask of the kernel, whichever driver made it. Data, not code: the
// tests read the same lists. Two filters, of which the stricter verdict counts: the native driver's
// launcher stacks them, a container engine gets one profile that amounts to both. Names: everything
// not on kAllowed answers ENOSYS, so that libc takes its fallback paths. openat2 is not on it
// because its flags cannot be seen here. Arguments: rules that take away single uses of an allowed
// call. A foreign architecture (int 0x80, x32) kills the process.
namespace belljar::syscalls {

// Measured with Node 20 to 26, npm, esbuild, sharp, bash, git, gcc and python3. Names that an
// architecture does not have are skipped.
// clang-format off
inline constexpr const char* kAllowed[] = {
    // processes and signals
    "execve", "exit", "exit_group", "wait4", "waitid", "clone", "fork", "vfork", "kill", "tgkill",
    "tkill", "getpid", "gettid", "getppid", "getpgid", "getpgrp", "setpgid", "getsid", "setsid",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigsuspend",
    "rt_sigtimedwait", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "sigaltstack", "restart_syscall",
    "pause", "alarm", "getitimer", "setitimer", "set_tid_address", "set_robust_list", "rseq",
    "get_robust_list", "membarrier", "arch_prctl", "prctl", "futex", "futex_waitv", "pidfd_open", "pidfd_send_signal", "getcpu",
    // identities: without capabilities the set* calls fail with EPERM; tools that ignore the error
    // need them
    "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "capget",
    "capset", "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups",
    "setfsuid", "setfsgid",
    // time, scheduling, limits
    "sched_yield", "sched_getaffinity", "sched_setaffinity", "sched_getscheduler", "sched_getparam",
    "sched_get_priority_min", "sched_get_priority_max", "sched_rr_get_interval", "getpriority",
    "setpriority", "ioprio_get", "getrlimit", "prlimit64", "setrlimit", "getrusage", "times",
    "sysinfo", "uname", "time", "gettimeofday", "clock_gettime", "clock_getres", "clock_nanosleep",
    "nanosleep", "timer_create", "timer_settime", "timer_gettime", "timer_getoverrun",
    "timer_delete", "timerfd_create", "timerfd_settime", "timerfd_gettime", "getrandom",
    // memory
    "brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "msync", "mincore", "mlock",
    "munlock", "mlock2", "memfd_create", "pkey_alloc", "pkey_free", "pkey_mprotect", "mseal",
    // files
    "open", "openat", "creat", "close", "close_range", "read", "write", "readv",
    "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2", "lseek", "dup",
    "dup2", "dup3", "fcntl", "flock", "fsync", "fdatasync", "sync_file_range", "ftruncate",
    "truncate", "fallocate", "fadvise64", "readahead", "stat", "fstat", "lstat", "newfstatat",
    "statx", "statfs", "fstatfs", "access", "faccessat", "faccessat2", "getdents", "getdents64",
    "getcwd", "chdir", "fchdir", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir",
    "link", "linkat", "unlink", "unlinkat", "symlink", "symlinkat", "readlink", "readlinkat",
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "umask",
    "utime", "utimes", "utimensat", "futimesat", "mknod", "mknodat", "setxattr", "lsetxattr",
    "fsetxattr", "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr",
    "removexattr", "lremovexattr", "fremovexattr", "copy_file_range", "sendfile", "splice", "tee",
    "inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch", "ioctl", "cachestat",
    // waiting
    "pipe", "pipe2", "poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1",
    "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd", "eventfd2", "signalfd",
    "signalfd4",
    // sockets; socket() and socketpair() are allowed by family, below
    "bind", "listen", "accept", "accept4", "connect", "getsockname", "getpeername", "sendto",
    "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "setsockopt", "getsockopt",
    "shutdown",
};
// clang-format on

// One condition on an argument: (value & mask) == wanted. The mask is never wider than the type the
// kernel reads: an `int` argument's upper 32 bits are garbage that a comparison must ignore
// (CVE-2019-10063).
struct ArgumentTest {
  unsigned index;
  unsigned long long mask;
  unsigned long long wanted;
};

struct ArgumentRule {
  const char* name;
  int error;  // 0: allow
  unsigned count;
  ArgumentTest tests[3];
  const char* reason;
};

inline constexpr unsigned long long kInt = 0xffffffffull;

// Added to the allow-list: calls that are allowed in these forms only.
// clang-format off
inline constexpr ArgumentRule kAllowedForms[] = {
    {"socket", 0, 3, {{0, kInt, 2}, {1, 0xf, 1}, {2, kInt, 0}}, "TCP, IPv4"},
    {"socket", 0, 3, {{0, kInt, 2}, {1, 0xf, 1}, {2, kInt, 6}}, "TCP by name, IPv4"},
    {"socket", 0, 3, {{0, kInt, 2}, {1, 0xf, 2}, {2, kInt, 0}}, "UDP, IPv4"},
    {"socket", 0, 3, {{0, kInt, 2}, {1, 0xf, 2}, {2, kInt, 17}}, "UDP by name, IPv4"},
    {"socket", 0, 3, {{0, kInt, 10}, {1, 0xf, 1}, {2, kInt, 0}}, "TCP, IPv6"},
    {"socket", 0, 3, {{0, kInt, 10}, {1, 0xf, 1}, {2, kInt, 6}}, "TCP by name, IPv6"},
    {"socket", 0, 3, {{0, kInt, 10}, {1, 0xf, 2}, {2, kInt, 0}}, "UDP, IPv6"},
    {"socket", 0, 3, {{0, kInt, 10}, {1, 0xf, 2}, {2, kInt, 17}}, "UDP by name, IPv6"},
    {"socket", 0, 2, {{0, kInt, 1}, {2, kInt, 0}}, "UNIX sockets inside the sandbox"},
    {"socket", 0, 2, {{0, kInt, 16}, {2, kInt, 0}}, "routing netlink: os.networkInterfaces(), getaddrinfo()"},
    {"socketpair", 0, 1, {{0, kInt, 1}}, "UNIX sockets; other families would load modules"},
    {"personality", 0, 1, {{0, kInt, 0}}, "the default personality"},
    {"personality", 0, 1, {{0, kInt, 0xffffffff}}, "asking which one is set"},
};

// The second filter: everything is allowed but these.
inline constexpr ArgumentRule kDeniedForms[] = {
    {"clone", 1, 1, {{0, 0x00008000, 0x00008000}}, "CLONE_PARENT: would make children of the launcher"},
    {"clone", 1, 1, {{0, 0x00020000, 0x00020000}}, "CLONE_NEWNS"},
    {"clone", 1, 1, {{0, 0x02000000, 0x02000000}}, "CLONE_NEWCGROUP"},
    {"clone", 1, 1, {{0, 0x04000000, 0x04000000}}, "CLONE_NEWUTS"},
    {"clone", 1, 1, {{0, 0x08000000, 0x08000000}}, "CLONE_NEWIPC"},
    {"clone", 1, 1, {{0, 0x10000000, 0x10000000}}, "CLONE_NEWUSER"},
    {"clone", 1, 1, {{0, 0x20000000, 0x20000000}}, "CLONE_NEWPID"},
    {"clone", 1, 1, {{0, 0x40000000, 0x40000000}}, "CLONE_NEWNET"},
    {"futex", 38, 1, {{1, 0x7f, 6}}, "FUTEX_LOCK_PI (CVE-2026-43499)"},
    {"futex", 38, 1, {{1, 0x7f, 7}}, "FUTEX_UNLOCK_PI"},
    {"futex", 38, 1, {{1, 0x7f, 8}}, "FUTEX_TRYLOCK_PI"},
    {"futex", 38, 1, {{1, 0x7f, 11}}, "FUTEX_WAIT_REQUEUE_PI"},
    {"futex", 38, 1, {{1, 0x7f, 12}}, "FUTEX_CMP_REQUEUE_PI"},
    {"futex", 38, 1, {{1, 0x7f, 13}}, "FUTEX_LOCK_PI2"},
    {"ioctl", 1, 1, {{1, kInt, 0x5412}}, "TIOCSTI: types into a terminal"},
    {"ioctl", 1, 1, {{1, kInt, 0x541c}}, "TIOCLINUX: pastes into a console"},
    {"ioctl", 1, 1, {{1, kInt, 0x5423}}, "TIOCSETD: loads line disciplines"},
    {"ioctl", 1, 1, {{1, kInt, 0x40086602}}, "FS_IOC_SETFLAGS: immutable files would block the clean-up"},
    {"ioctl", 1, 1, {{1, kInt, 0xc0045877}}, "FIFREEZE"},
    {"ioctl", 1, 1, {{1, kInt, 0xc0185879}}, "FITRIM"},
    {"setsockopt", 1, 2, {{1, kInt, 6}, {2, kInt, 31}}, "TCP_ULP: kTLS, espintcp (CVE-2026-46300)"},
    {"setsockopt", 1, 2, {{1, kInt, 17}, {2, kInt, 100}}, "UDP_ENCAP: ESP"},
    {"setsockopt", 1, 2, {{1, kInt, 1}, {2, kInt, 26}}, "SO_ATTACH_FILTER"},
    {"setsockopt", 1, 2, {{1, kInt, 1}, {2, kInt, 50}}, "SO_ATTACH_BPF"},
    {"setsockopt", 1, 2, {{1, kInt, 1}, {2, kInt, 51}}, "SO_ATTACH_REUSEPORT_CBPF"},
    {"setsockopt", 1, 2, {{1, kInt, 1}, {2, kInt, 52}}, "SO_ATTACH_REUSEPORT_EBPF"},
    {"setsockopt", 1, 2, {{1, kInt, 0}, {2, kInt, 64}}, "IPT_SO_SET_REPLACE"},
    {"setsockopt", 1, 2, {{1, kInt, 41}, {2, kInt, 64}}, "IP6T_SO_SET_REPLACE"},
    {"prctl", 1, 1, {{0, kInt, 22}}, "PR_SET_SECCOMP"},
    {"prctl", 1, 1, {{0, kInt, 35}}, "PR_SET_MM"},
    {"prctl", 1, 1, {{0, kInt, 0x59616d61}}, "PR_SET_PTRACER"},
    {"setrlimit", 1, 1, {{0, kInt, 4}}, "RLIMIT_CORE: see set_resource_limits()"},
    {"prlimit64", 1, 1, {{1, kInt, 4}}, "RLIMIT_CORE"},
    {"chmod", 1, 1, {{1, 04000, 04000}}, "set-user-ID"}, {"chmod", 1, 1, {{1, 02000, 02000}}, "set-group-ID"},
    {"fchmod", 1, 1, {{1, 04000, 04000}}, "set-user-ID"}, {"fchmod", 1, 1, {{1, 02000, 02000}}, "set-group-ID"},
    {"fchmodat", 1, 1, {{2, 04000, 04000}}, "set-user-ID"}, {"fchmodat", 1, 1, {{2, 02000, 02000}}, "set-group-ID"},
    {"fchmodat2", 1, 1, {{2, 04000, 04000}}, "set-user-ID"}, {"fchmodat2", 1, 1, {{2, 02000, 02000}}, "set-group-ID"},
    {"open", 1, 2, {{1, 0100, 0100}, {2, 04000, 04000}}, "set-user-ID of a new file"}, {"open", 1, 2, {{1, 0100, 0100}, {2, 02000, 02000}}, "set-group-ID of a new file"},
    {"open", 1, 2, {{1, 020000000, 020000000}, {2, 04000, 04000}}, "set-user-ID, O_TMPFILE"}, {"open", 1, 2, {{1, 020000000, 020000000}, {2, 02000, 02000}}, "set-group-ID, O_TMPFILE"},
    {"openat", 1, 2, {{2, 0100, 0100}, {3, 04000, 04000}}, "set-user-ID of a new file"}, {"openat", 1, 2, {{2, 0100, 0100}, {3, 02000, 02000}}, "set-group-ID of a new file"},
    {"openat", 1, 2, {{2, 020000000, 020000000}, {3, 04000, 04000}}, "set-user-ID, O_TMPFILE"}, {"openat", 1, 2, {{2, 020000000, 020000000}, {3, 02000, 02000}}, "set-group-ID, O_TMPFILE"},
    {"creat", 1, 1, {{1, 04000, 04000}}, "set-user-ID of a new file"}, {"creat", 1, 1, {{1, 02000, 02000}}, "set-group-ID of a new file"},
    {"mknod", 1, 1, {{1, 04000, 04000}}, "set-user-ID of a new file"}, {"mknod", 1, 1, {{1, 02000, 02000}}, "set-group-ID of a new file"},
    {"mknodat", 1, 1, {{2, 04000, 04000}}, "set-user-ID of a new file"}, {"mknodat", 1, 1, {{2, 02000, 02000}}, "set-group-ID of a new file"},
    {"mknod", 1, 1, {{1, 0170000, 0020000}}, "character device; 0:0 is an overlay whiteout"},
    {"mknod", 1, 1, {{1, 0170000, 0060000}}, "block device"},
    {"mknodat", 1, 1, {{2, 0170000, 0020000}}, "character device; 0:0 is an overlay whiteout"},
    {"mknodat", 1, 1, {{2, 0170000, 0060000}}, "block device"},
};
// clang-format on

}  // namespace belljar::syscalls
