#include "sandbox/lease.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/fake_clock.h"

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

}  // namespace
}  // namespace belljar
