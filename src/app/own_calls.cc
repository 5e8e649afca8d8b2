#include "app/own_calls.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "base/error.h"

namespace belljar::app {

namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#endif

// The leak checker of sanitized builds looks at the threads from a process of its own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BELLJAR_CHECKS_LEAKS
#endif
#endif
#ifdef BELLJAR_CHECKS_LEAKS
constexpr unsigned kLeakChecker = CLONE_UNTRACED;
#else
constexpr unsigned kLeakChecker = 0;
#endif

// clang-format off
constexpr long kAllowed[] = {
    // files
    SYS_openat, SYS_openat2, SYS_close, SYS_close_range, SYS_read, SYS_write, SYS_readv, SYS_writev,
    SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev, SYS_preadv2, SYS_pwritev2, SYS_lseek,
    SYS_fstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_faccessat, SYS_faccessat2,
    SYS_getdents64, SYS_readlinkat, SYS_fcntl, SYS_flock, SYS_fsync, SYS_fdatasync, SYS_syncfs, SYS_ftruncate,
    SYS_fallocate, SYS_fadvise64, SYS_copy_file_range, SYS_sendfile, SYS_splice, SYS_tee, SYS_dup,
    SYS_dup3, SYS_pipe2, SYS_mkdirat, SYS_renameat2, SYS_unlinkat, SYS_linkat, SYS_symlinkat,
    SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_umask, SYS_getcwd,
    SYS_fchdir, SYS_chdir, SYS_ioctl, SYS_memfd_create, SYS_inotify_init1, SYS_inotify_add_watch,
    SYS_inotify_rm_watch, SYS_fgetxattr, SYS_fsetxattr, SYS_flistxattr,
    // memory, threads, signals
    SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_mincore, SYS_brk, SYS_futex,
    SYS_rseq, SYS_set_robust_list, SYS_get_robust_list, SYS_set_tid_address, SYS_exit,
    SYS_exit_group, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending,
    SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_restart_syscall, SYS_tgkill, SYS_membarrier,
    SYS_sched_yield, SYS_sched_getaffinity, SYS_getcpu, SYS_prctl,
    // waiting
    SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_eventfd2,
    SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime, SYS_ppoll, SYS_pselect6,
    SYS_signalfd4, SYS_nanosleep, SYS_clock_nanosleep, SYS_waitid, SYS_wait4,
    // sockets; socket() itself has a rule of its own
    SYS_socketpair, SYS_bind, SYS_listen, SYS_accept4, SYS_accept, SYS_connect, SYS_getsockname,
    SYS_getpeername, SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg,
    SYS_recvmmsg, SYS_setsockopt, SYS_getsockopt, SYS_shutdown,
    // questions
    SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
    SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_getrandom, SYS_clock_gettime,
    SYS_clock_getres, SYS_gettimeofday, SYS_sysinfo, SYS_uname, SYS_prlimit64, SYS_getrusage,
    SYS_times, SYS_capget,
#ifdef BELLJAR_CHECKS_LEAKS
    SYS_ptrace,
#endif
#if defined(__x86_64__)  // the older forms of the same
    SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_mkdir, SYS_rmdir, SYS_rename,
    SYS_renameat, SYS_unlink, SYS_link, SYS_symlink, SYS_chmod, SYS_chown, SYS_lchown, SYS_dup2,
    SYS_pipe, SYS_poll, SYS_select, SYS_epoll_wait, SYS_eventfd, SYS_time, SYS_getrlimit,
    SYS_arch_prctl, SYS_getdents, SYS_utimes, SYS_creat,
#endif
};
constexpr unsigned kFamilies[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
// clang-format on

constexpr unsigned kAllow = SECCOMP_RET_ALLOW;
constexpr unsigned kRefuse = SECCOMP_RET_ERRNO | ENOSYS;

class Program {
 public:
  void load(size_t offset) {
    add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset)));
  }
  void answer(unsigned verdict) { add(BPF_STMT(BPF_RET | BPF_K, verdict)); }
  void answer_if_equal(unsigned value, unsigned verdict) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    answer(verdict);
  }
  void answer_if_not_equal(unsigned value, unsigned verdict) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
    answer(verdict);
  }
  void answer_if_has(unsigned bits, unsigned verdict) {
    add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
    answer(verdict);
  }
  void skip_unless_equal(unsigned value, const Program& then) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0,
                 static_cast<unsigned char>(then.code.size())));
    code.insert(code.end(), then.code.begin(), then.code.end());
  }

  std::vector<sock_filter> code;

 private:
  void add(const sock_filter& instruction) { code.push_back(instruction); }
};

// The lower half of an argument; the kernel ignores the upper one of an int.
constexpr size_t argument(size_t index) {
  return offsetof(seccomp_data, args) + index * sizeof(__u64);
}

Program make_program() {
  Program program;
  program.load(offsetof(seccomp_data, arch));
  program.answer_if_not_equal(kArchitecture, SECCOMP_RET_KILL_PROCESS);
  program.load(offsetof(seccomp_data, nr));
  // The kernel remembers which calls are always allowed, so the length of the list costs nothing.
  for (const long call : kAllowed) program.answer_if_equal(static_cast<unsigned>(call), kAllow);
  Program threads_only;
  threads_only.load(argument(0));
  threads_only.answer_if_has(CLONE_THREAD | kLeakChecker, kAllow);
  threads_only.answer(kRefuse);
  program.skip_unless_equal(SYS_clone, threads_only);
  Program known_families;
  known_families.load(argument(0));
  for (const unsigned family : kFamilies) known_families.answer_if_equal(family, kAllow);
  known_families.answer(kRefuse);
  program.skip_unless_equal(SYS_socket, known_families);
  program.answer(kRefuse);
  return program;
}

}  // namespace

void load_own_filter() {
  Program program = make_program();
  sock_fprog code{static_cast<unsigned short>(program.code.size()), program.code.data()};
  sys(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &code), "load the filter of own calls");
}

}  // namespace belljar::app
