#include "drivers/docker/agent/posture.h"

#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace belljar::agent {
namespace {

bool has_rights() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (::geteuid() == 0 || ::syscall(SYS_capget, &header, sets) != 0) return true;
  for (const __user_cap_data_struct& set : sets) {
    if ((set.effective | set.permitted | set.inheritable) != 0) return true;
  }
  return ::prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) != 0;
}

// Calls that do nothing when they are allowed. An engine's own profile answers EPERM, or lets them
// through; ours knows none of them.
bool has_our_filter() {
  constexpr long kCalls[] = {SYS_unshare,        SYS_keyctl,          SYS_bpf,
                             SYS_io_uring_setup, SYS_open_tree,       SYS_clone3,
                             SYS_ptrace,         SYS_userfaultfd,     SYS_perf_event_open,
                             SYS_setns,          SYS_process_vm_readv};
  for (const long call : kCalls) {
    errno = 0;
    if (::syscall(call, 0, -1, 0, 0, 0, 0) != -1 || errno != ENOSYS) return false;
  }
  return is_filtered();
}

}  // namespace

bool is_filtered() {
  return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER;
}

bool is_confined() {
  return !has_rights() && has_our_filter() && ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

}  // namespace belljar::agent
