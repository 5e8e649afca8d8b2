#include "app/own_rights.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "app/own_calls.h"
#include "base/error.h"
#include "base/fd.h"

namespace belljar::app {

namespace {

constexpr unsigned kReadAll = CAP_DAC_READ_SEARCH;

void keep_one_capability() {
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    sys(::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0), "drop a capability");
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  sets[0].permitted = 1u << kReadAll;
  sets[0].effective = sets[0].permitted;
  sys(::syscall(SYS_capset, &header, sets), "set the capabilities");
}

}  // namespace

void make_files_as(uid_t id) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  sys(::syscall(SYS_capget, &header, sets), "read the capabilities");
  ::setfsgid(id);
  ::setfsuid(id);  // takes the capabilities that concern files
  sys(::syscall(SYS_capset, &header, sets), "keep the capabilities");
}

void give_up_rights(int user_namespace, uid_t id) {
  sys(::setns(user_namespace, CLONE_NEWUSER), "enter the launcher's user namespace");
  sys(::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), "keep capabilities");
  // An ordinary user without ids of its own may not drop its groups; they are its own.
  if (::setgroups(0, nullptr) != 0 && errno != EPERM) fail_errno(errno, "drop the groups");
  sys(::setresgid(id, id, id), "change the group");
  sys(::setresuid(id, id, id), "change the user");
  keep_one_capability();
  sys(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "hide the memory");
  sys(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "give up new privileges");
}

namespace {

// Newer than Debian 12's kernel headers.
constexpr uint64_t kRefer = 1ull << 13;         // ABI 2
constexpr uint64_t kTruncate = 1ull << 14;      // ABI 3
constexpr uint64_t kIoctlDevice = 1ull << 15;   // ABI 5
constexpr uint64_t kScopeAbstract = 1ull << 0;  // ABI 6: no abstract UNIX sockets of others
constexpr uint64_t kScopeSignals = 1ull << 1;   // ABI 6: no signals to others
struct RulesetAttributes {
  uint64_t handled_access_fs = 0;
  uint64_t handled_access_net = 0;
  uint64_t scoped = 0;
};

// Reading is not among them: sandboxes live on mounts that no rule made now could name. There the
// one capability and the file permissions decide.
RulesetAttributes what_to_handle(long abi) {
  RulesetAttributes attributes;
  constexpr uint64_t kAll = (1ull << 13) - 1;
  attributes.handled_access_fs =
      kAll & ~(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
  if (abi >= 2) attributes.handled_access_fs |= kRefer;
  if (abi >= 3) attributes.handled_access_fs |= kTruncate;
  if (abi >= 5) attributes.handled_access_fs |= kIoctlDevice;
  if (abi >= 6) attributes.scoped = kScopeAbstract | kScopeSignals;
  return attributes;
}

void allow_writing(int ruleset, int directory, uint64_t accesses) {
  landlock_path_beneath_attr rule{};
  rule.parent_fd = directory;
  rule.allowed_access = accesses;
  sys(::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0),
      "allow a directory");
}

void restrict_files(const std::vector<int>& writable) {
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi <= 0) return;
  const RulesetAttributes attributes = what_to_handle(abi);
  const size_t size = abi >= 6 ? sizeof attributes : sizeof attributes.handled_access_fs;
  const Fd ruleset{static_cast<int>(
      sys(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0), "make Landlock rules"))};
  constexpr uint64_t kNever = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                              LANDLOCK_ACCESS_FS_MAKE_BLOCK | kIoctlDevice;
  for (const int directory : writable) {
    allow_writing(ruleset.get(), directory, attributes.handled_access_fs & ~kNever);
  }
  sys(::syscall(SYS_landlock_restrict_self, ruleset.get(), 0), "apply Landlock rules");
}

}  // namespace

void confine_self(const std::vector<int>& writable) {
  restrict_files(writable);
  load_own_filter();
}

}  // namespace belljar::app
