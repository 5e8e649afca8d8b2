// The first process of a container of the tests: tries what sandbox/seccomp_policy.h denies, and
// some of what it allows, and writes what was not as it should be to /workspace/files/probe; "done"
// is its last line.
#include <fcntl.h>
#include <seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "drivers/linux/launcher/forbidden_calls.h"
#include "sandbox/seccomp_policy.h"

namespace belljar {
namespace {

// Bad pointers and descriptors: what is let through does nothing.
using Arguments = std::array<unsigned long, 6>;
constexpr Arguments kHarmless{~0ul, ~0ul, ~0ul, ~0ul, ~0ul, ~0ul};

// 0, or the errno.
int call(long number, const Arguments& a) {
  const long result = ::syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  return result == -1 ? errno : 0;
}

// A use of a call that is allowed otherwise: engines answer EPERM.
void try_denied_form(std::FILE* out, const syscalls::ArgumentRule& rule) {
  const int number = ::seccomp_syscall_resolve_name(rule.name);
  if (number < 0) return;
  // With and without bits that the kernel does not look at.
  for (const unsigned long high : {0ul, ~0xfffffffful}) {
    Arguments arguments = kHarmless;
    for (unsigned i = 0; i < rule.count; ++i)
      arguments[rule.tests[i].index] = rule.tests[i].wanted | (high & ~rule.tests[i].mask);
    const int error = call(number, arguments);
    if (error != EPERM)
      std::fprintf(out, "%s, %s: %s\n", rule.name, rule.reason, std::strerror(error));
  }
}

void try_forbidden(std::FILE* out, const launcher::ForbiddenCall& one) {
  Arguments arguments{};
  for (size_t i = 0; i < std::size(one.arguments); ++i)
    arguments[i] = static_cast<unsigned long>(one.arguments[i]);
  const int error = call(one.number, arguments);
  if (error != ENOSYS && error != EPERM)
    std::fprintf(out, "%s: %s\n", one.name, std::strerror(error));
}

struct AllowedUse {
  const char* name;
  long number;
  int error;
  Arguments arguments;
};

// Neighbours of what is denied. The answers are the kernel's own.
constexpr AllowedUse kAllowedUses[] = {
    {"ioctl TIOCGWINSZ", SYS_ioctl, EBADF, {~0ul, 0x5413}},
    {"ioctl FIONBIO", SYS_ioctl, EBADF, {~0ul, 0x5421}},
    {"ioctl, high bits", SYS_ioctl, EBADF, {~0ul, 0xffffffff80045430}},
    {"setsockopt TCP_NODELAY", SYS_setsockopt, EBADF, {~0ul, 6, 1}},
    {"setsockopt SO_REUSEADDR", SYS_setsockopt, EBADF, {~0ul, 1, 2}},
    {"setsockopt IPV6_V6ONLY", SYS_setsockopt, EBADF, {~0ul, 41, 26}},
    {"prctl PR_SET_NAME", SYS_prctl, EFAULT, {15, ~0ul}},
    {"prctl PR_GET_DUMPABLE", SYS_prctl, 0, {3}},
    {"futex FUTEX_WAKE", SYS_futex, EINVAL, {1, 0x81, 1}},
    {"prlimit64 RLIMIT_NOFILE", SYS_prlimit64, 0, {0, 7}},
    {"openat O_CREAT", SYS_openat, EFAULT, {~0ul, 0, 0101, 0644}},
    {"fchmod 0777", SYS_fchmod, EBADF, {~0ul, 0777}},
    {"mknodat of a fifo", SYS_mknodat, EFAULT, {~0ul, 0, 0010644}},
    {"clone with flags that contradict", SYS_clone, EINVAL, {0x00000800}},  // CLONE_SIGHAND alone
};

void try_allowed(std::FILE* out, const AllowedUse& use) {
  const int error = call(use.number, use.arguments);
  if (error != use.error) std::fprintf(out, "%s: %s\n", use.name, std::strerror(error));
}

}  // namespace
}  // namespace belljar

int main() {
  std::FILE* const out = std::fopen("/workspace/files/probe", "we");
  if (out == nullptr) return 1;
  for (const auto& one : belljar::launcher::kForbiddenCalls) belljar::try_forbidden(out, one);
  for (const auto& rule : belljar::syscalls::kDeniedForms) belljar::try_denied_form(out, rule);
  for (const auto& use : belljar::kAllowedUses) belljar::try_allowed(out, use);
  std::fprintf(out, "done\n");
  return std::fclose(out) == 0 ? 0 : 1;
}
