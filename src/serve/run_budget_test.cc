#include "serve/run_budget.h"

#include <gtest/gtest.h>

#include "base/fake_clock.h"

namespace belljar::serve {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RunBudget, WhatWasUsedIsEarnedAgainWithinTheMinute) {
  FakeClock clock;
  RunBudget budget{clock, seconds{30}};
  EXPECT_EQ(budget.wait_of("a"), milliseconds{0});
  budget.charge("a", seconds{29});
  EXPECT_EQ(budget.wait_of("a"), milliseconds{0});
  budget.charge("a", seconds{11});  // ten seconds too many: twenty at half a second per second
  EXPECT_NEAR(static_cast<double>(budget.wait_of("a").count()), 20'000, 5);
  EXPECT_EQ(budget.wait_of("b"), milliseconds{0});
  clock.advance(seconds{19});
  EXPECT_GT(budget.wait_of("a"), milliseconds{0});
  clock.advance(budget.wait_of("a"));
  EXPECT_EQ(budget.wait_of("a"), milliseconds{0});
}

TEST(RunBudget, NobodySavesMoreThanAMinutesWorth) {
  FakeClock clock;
  RunBudget budget{clock, seconds{30}};
  budget.charge("a", seconds{1});
  clock.advance(std::chrono::hours{5});
  budget.charge("a", seconds{31});
  EXPECT_GT(budget.wait_of("a"), milliseconds{0});
}

TEST(RunBudget, NoneMeansNoLimit) {
  FakeClock clock;
  RunBudget budget{clock, seconds{0}};
  budget.charge("a", std::chrono::hours{1});
  EXPECT_EQ(budget.wait_of("a"), milliseconds{0});
}

TEST(RunBudget, OwnersWhoOweNothingAreForgotten) {
  FakeClock clock;
  RunBudget budget{clock, seconds{30}};
  for (int i = 0; i < 1024; ++i) budget.charge(std::to_string(i), seconds{1});
  clock.advance(std::chrono::minutes{2});
  budget.charge("late", seconds{40});
  EXPECT_EQ(budget.remembered(), 1u);
  EXPECT_GT(budget.wait_of("late"), milliseconds{0});
}

}  // namespace
}  // namespace belljar::serve
