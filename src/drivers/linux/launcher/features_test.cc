#include "drivers/linux/launcher/features.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/seccomp.h"

namespace belljar::launcher {
namespace {

TEST(Features, WhatThisHostHasWorksAndNothingOfTheCallerChanges) {
  const int no_new_privs = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
  const std::string mounts = read_file_at(-1, "/proc/self/mountinfo");
  Reply reply{};
  std::memset(reply.trials, 0xff, sizeof reply.trials);
  try_features(reply.trials);
  EXPECT_EQ(reply.trials[static_cast<size_t>(Trial::close_range)], 0);
  EXPECT_EQ(reply.trials[static_cast<size_t>(Trial::pidfd)], 0);
  EXPECT_EQ(reply.trials[static_cast<size_t>(Trial::clone3)], 0);
  if (reply.trials[static_cast<size_t>(Trial::mount_namespace)] == 0) {
    for (const Trial trial : {Trial::pid_namespace, Trial::pivot_root, Trial::sized_tmpfs,
                              Trial::mount_api, Trial::seccomp, Trial::openat2, Trial::gate})
      EXPECT_EQ(reply.trials[static_cast<size_t>(trial)], 0) << static_cast<int>(trial);
  }
  for (size_t i = 0; i < kTrials; ++i) EXPECT_NE(reply.trials[i], 0xff) << "was not tried: " << i;
  EXPECT_EQ(read_file_at(-1, "/proc/self/mountinfo"), mounts);
  EXPECT_EQ(::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), no_new_privs);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no child is left
  EXPECT_EQ(errno, ECHILD);
}

// Under a sandbox's own filters the kernel refuses nearly everything: each of these trials must
// notice.
TEST(Features, WhatTheHostRefusesIsFoundByTrying) {
  SeccompFilters filters;
  ASSERT_EQ(compile_filters(filters), 0);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (load_filters(filters) != 0) ::_exit(1);
    Reply reply{};
    try_features(reply.trials);
    ::_exit(::write(ends[1], reply.trials, sizeof reply.trials) < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  uint8_t results[sizeof Reply::trials] = {};
  ASSERT_EQ(::read(ends[0], results, sizeof results), static_cast<ssize_t>(sizeof results));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  const std::set<Trial> allowed{Trial::no_new_privs, Trial::close_range, Trial::pidfd};
  for (size_t i = 0; i < kTrials; ++i) {
    EXPECT_EQ(results[i] == 0, allowed.contains(static_cast<Trial>(i))) << "trial " << i;
  }
}

}  // namespace
}  // namespace belljar::launcher
