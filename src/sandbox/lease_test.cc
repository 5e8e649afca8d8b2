#include "sandbox/lease.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/fake_clock.h"
#include "base/posix.h"
#include "base/testing.h"
#include "drivers/fake/driver.h"

namespace belljar {
namespace {

std::shared_ptr<LiveSandbox> live_sandbox() {
  return std::make_shared<LiveSandbox>("ann", SandboxSpec{}, Quota::Place{});
}

TEST(Lease, CountsAsUseUntilItEnds) {
  FakeClock clock;
  const auto live = live_sandbox();
  {
    Lease lease{live, clock};
    const Lease moved{std::move(lease)};
    EXPECT_EQ(live->running, 1u);
    clock.advance(std::chrono::seconds{5});
  }
  EXPECT_EQ(live->running, 0u);
  EXPECT_EQ(live->last_used, clock.now());
}

TEST(Lease, GivesProgramsThatRunAtTheSameTimeDifferentNumbers) {
  FakeClock clock;
  const auto live = live_sandbox();
  std::optional<Lease> first{std::in_place, live, clock};
  Lease second{live, clock};
  const Lease without_a_program{live, clock};
  EXPECT_EQ(first->source_slot(), 1);
  EXPECT_EQ(first->source_slot(), 1);
  EXPECT_EQ(second.source_slot(), 2);
  first.reset();
  Lease third{live, clock};
  EXPECT_EQ(third.source_slot(), 1);
}

Task<bool> is_refused(Lease& lease, PackageDirectories packages) {
  try {
    co_await lease.mount_packages(std::move(packages));
  } catch (const Error&) {
    co_return true;
  }
  co_return false;
}

Task<> mount_packages() {
  const FakeClock clock;
  FakeDriver driver{co_await asio::this_coro::executor};
  const auto live = live_sandbox();
  SandboxSpec spec;
  live->sandbox = co_await driver.create(std::move(spec));
  Lease lease{live, clock};
  std::vector<Fd> directories;
  directories.push_back(open_directory("/etc/default"));
  const auto packages = std::make_shared<const std::vector<Fd>>(std::move(directories));
  EXPECT_FALSE(co_await is_refused(lease, packages));
  EXPECT_EQ(driver.packages(), std::vector<std::string>{"/etc/default"});

  Command command;
  command.argv = {"/bin/sh", "-c", "remove node_modules\nsave node_modules a file"};
  const RunLimits limits;
  co_await lease.run(std::move(command), limits, nullptr);
  EXPECT_TRUE(co_await is_refused(lease, packages));

  live->stop_reason = "the sandbox was stopped";
  co_await live->sandbox->destroy();
  EXPECT_FALSE(co_await is_refused(lease, packages)) << "the run that follows will say so";
  EXPECT_EQ(driver.packages().size(), 1u);
}
TEST(Lease, MountsPackagesUnlessTheSandboxIsStopped) {
  run(mount_packages());
}

}  // namespace
}  // namespace belljar
