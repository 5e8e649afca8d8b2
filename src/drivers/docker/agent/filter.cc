#include "drivers/docker/agent/filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <vector>

namespace belljar::agent {

namespace {

// clang-format off
constexpr unsigned kRefused[] = {
    SYS_unshare, SYS_setns, SYS_clone3, SYS_chroot, SYS_pivot_root, SYS_mount, SYS_umount2,
    SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick,
    SYS_mount_setattr, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
    SYS_pidfd_getfd, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key,
    SYS_request_key, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
    SYS_io_setup, SYS_seccomp, SYS_landlock_create_ruleset, SYS_name_to_handle_at,
    SYS_open_by_handle_at, SYS_fanotify_init, SYS_quotactl, SYS_swapon, SYS_swapoff,
    SYS_reboot, SYS_kexec_load, SYS_init_module, SYS_finit_module, SYS_delete_module,
    SYS_acct, SYS_settimeofday, SYS_clock_settime, SYS_sethostname, SYS_setdomainname,
    SYS_syslog, SYS_vmsplice, SYS_personality,
};
// clang-format on

constexpr unsigned kNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                 CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#endif

class Filter {
 public:
  void load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset), 0, 0); }
  void answer(unsigned verdict) { add(BPF_RET | BPF_K, verdict, 0, 0); }
  void answer_if(unsigned short test, unsigned value, unsigned verdict) {
    add(BPF_JMP | test | BPF_K, value, 0, 1);
    answer(verdict);
  }
  void answer_unless_equal(unsigned value, unsigned verdict) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    answer(verdict);
  }
  void skip_unless_equal(unsigned value, unsigned char count) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count);
  }

  int install() {
    const sock_fprog program{static_cast<unsigned short>(steps_.size()), steps_.data()};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : errno;
  }

 private:
  void add(int code, unsigned value, unsigned char yes, unsigned char no) {
    steps_.push_back({static_cast<unsigned short>(code), yes, no, value});
  }

  std::vector<sock_filter> steps_;
};

}  // namespace

int refuse_calls() {
  constexpr unsigned kUnknown = SECCOMP_RET_ERRNO | ENOSYS;  // libc then takes its other paths
  Filter filter;
  filter.load(offsetof(seccomp_data, arch));
  filter.answer_unless_equal(kArchitecture, kUnknown);  // calls of another one have other numbers
  filter.load(offsetof(seccomp_data, nr));
  constexpr unsigned kX32 = 0x40000000;
  filter.answer_if(BPF_JGE, kX32, kUnknown);
  for (const unsigned call : kRefused) filter.answer_if(BPF_JEQ, call, kUnknown);
  filter.skip_unless_equal(SYS_clone, 3);
  filter.load(offsetof(seccomp_data, args));  // its lower half: both processors are little-endian
  filter.answer_if(BPF_JSET, kNamespaces, kUnknown);
  filter.answer(SECCOMP_RET_ALLOW);
  return filter.install();
}

}  // namespace belljar::agent
