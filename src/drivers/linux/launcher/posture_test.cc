#include "drivers/linux/launcher/posture.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "drivers/linux/launcher/confine.h"
#include "drivers/linux/launcher/forbidden_calls.h"

namespace belljar::launcher {
namespace {

const SandboxLimits kLimits{512u << 20, 64u << 20, 1000, 1000, 64};

// Runs `look` in a child, which may spoil itself, and returns its exit status.
template <class Look>
int in_a_child(Look look) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(look());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void raise_an_ambient_capability() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  ::syscall(SYS_capget, &header, sets);
  sets[0].inheritable |= 1u << CAP_CHOWN;
  ::syscall(SYS_capset, &header, sets);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0);
}

// Neither confined nor as little as an ordinary process: everything that can differ does.
Posture spoil_this_process() {
  const gid_t group = 4;
  ::setgroups(1, &group);
  raise_an_ambient_capability();
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  EXPECT_GT(::dup(0), 2) << "a descriptor that nobody has allowed";
  Posture posture{{}, kLimits, true, {}};
  look_outside(posture.outside);
  return posture;
}

TEST(Posture, EveryCheckFindsAProcessWithoutProtection) {
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0) GTEST_SKIP() << "this process has a filter itself";
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be given groups and capabilities";
  const size_t count = posture_checks().size();
  EXPECT_GE(count, 18u);
  for (size_t i = 0; i < count; ++i) {
    const int status = in_a_child([i] {
      const Posture posture = spoil_this_process();
      const std::thread second{[] { ::pause(); }};
      // Not by return: that would wait for the thread.
      ::_exit(posture_checks()[i](posture) == nullptr ? 1 : 0);
      return 0;
    });
    EXPECT_EQ(status, 0) << "check " << i << " holds in a process that has nothing of it";
  }
}

TEST(Posture, ADifferenceIsNamedByTheFirstCheckThatFindsOne) {
  const int status = in_a_child([] {
    const char* difference = find_difference(spoil_this_process());
    return difference != nullptr && *difference != '\0' ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST(Posture, AForbiddenCallThatIsLetThroughIsSeenAndDoesNothing) {
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0) GTEST_SKIP() << "this process has a filter itself";
  size_t unseen = 0;
  for (const ForbiddenCall& call : kForbiddenCalls) {
    const int status = in_a_child([&call] {
      const auto& a = call.arguments;
      const long result = ::syscall(call.number, a[0], a[1], a[2], a[3], a[4]);
      return result == -1 && errno == call.error ? 1 : 0;
    });
    ASSERT_GE(status, 0) << call.name;
    if (status != 0) std::printf("  the kernel answers %s as the filters do\n", call.name);
    unseen += static_cast<size_t>(status);
  }
  // A kernel may be built without some of them. Most it has.
  EXPECT_LT(unseen, std::size(kForbiddenCalls) / 3);
}

TEST(Posture, TheFiltersAnswerEveryForbiddenCallAsTheTableSays) {
  SeccompFilters filters;
  ASSERT_EQ(compile_filters(filters), 0);
  for (const ForbiddenCall& call : kForbiddenCalls) {
    const int status = in_a_child([&call, &filters] {
      if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || load_filters(filters) != 0) return 2;
      const auto& a = call.arguments;
      const long result = ::syscall(call.number, a[0], a[1], a[2], a[3], a[4]);
      return result == -1 && errno == call.error ? 0 : 1;
    });
    EXPECT_EQ(status, 0) << call.name;
  }
}

}  // namespace
}  // namespace belljar::launcher
