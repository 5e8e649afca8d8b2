#include "drivers/linux/launcher/seccomp.h"

#include <seccomp.h>
#include <sys/mman.h>

#include <cerrno>

#include "base/fd.h"
#include "sandbox/seccomp_policy.h"

namespace belljar::launcher {

namespace {

// Owns a libseccomp context.
struct Context {
  explicit Context(uint32_t otherwise) : filter{::seccomp_init(otherwise)} {}
  ~Context() {
    if (filter != nullptr) ::seccomp_release(filter);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  scmp_filter_ctx filter;
};

int add(const Context& context, const syscalls::ArgumentRule& rule) {
  const int number = ::seccomp_syscall_resolve_name(rule.name);
  if (number < 0) return 0;  // this architecture, or this libseccomp, does not have it
  scmp_arg_cmp tests[3];
  for (unsigned i = 0; i < rule.count; ++i) {
    tests[i] = {rule.tests[i].index, SCMP_CMP_MASKED_EQ, rule.tests[i].mask, rule.tests[i].wanted};
  }
  const uint32_t action =
      rule.error == 0 ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(static_cast<unsigned>(rule.error));
  return -::seccomp_rule_add_array(context.filter, action, number, rule.count, tests);
}

int compile(const Context& context, std::vector<sock_filter>& program) {
  ::seccomp_attr_set(context.filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  ::seccomp_attr_set(context.filter, SCMP_FLTATR_CTL_OPTIMIZE,
                     2);  // a binary tree instead of a list
  const Fd file{::memfd_create("filter", MFD_CLOEXEC)};
  if (!file) return errno;
  if (const int error = -::seccomp_export_bpf(context.filter, file.get()); error != 0) return error;
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  if (size <= 0) return EIO;
  program.resize(static_cast<size_t>(size) / sizeof(sock_filter));
  return ::pread(file.get(), program.data(), static_cast<size_t>(size), 0) == size ? 0 : EIO;
}

}  // namespace

int compile_filters(SeccompFilters& filters) {
  const Context names{SCMP_ACT_ERRNO(ENOSYS)};
  const Context arguments{SCMP_ACT_ALLOW};
  if (names.filter == nullptr || arguments.filter == nullptr) return ENOMEM;
  for (const char* name : syscalls::kAllowed) {
    const int number = ::seccomp_syscall_resolve_name(name);
    if (number < 0) continue;
    if (const int error = -::seccomp_rule_add(names.filter, SCMP_ACT_ALLOW, number, 0))
      return error;
  }
  for (const syscalls::ArgumentRule& rule : syscalls::kAllowedForms) {
    if (const int error = add(names, rule); error != 0) return error;
  }
  for (const syscalls::ArgumentRule& rule : syscalls::kDeniedForms) {
    if (const int error = add(arguments, rule); error != 0) return error;
  }
  if (const int error = compile(names, filters.names); error != 0) return error;
  return compile(arguments, filters.arguments);
}

}  // namespace belljar::launcher
