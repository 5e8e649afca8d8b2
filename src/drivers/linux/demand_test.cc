#include "drivers/linux/demand.h"

#include <gtest/gtest.h>

namespace belljar::linux_driver {
namespace {

using std::chrono::seconds;

struct Calls {
  Clock::Time now{};
  Demand demand{now};

  void take(size_t count, milliseconds apart) {
    for (size_t i = 0; i < count; ++i) {
      demand.taken(now);
      now += apart;
    }
  }
};

TEST(Demand, CountsWhatIsWantedAtOnce) {
  Calls calls;
  EXPECT_EQ(calls.demand.peak(calls.now), 0u);
  calls.take(20, milliseconds{1});
  EXPECT_EQ(calls.demand.peak(calls.now), 20u);
}

TEST(Demand, CallsThatAreFarApartAreOneAtATime) {
  Calls calls;
  calls.take(50, milliseconds{100});
  EXPECT_EQ(calls.demand.peak(calls.now), 1u);
  EXPECT_EQ(calls.demand.last(), calls.now - milliseconds{100});
}

TEST(Demand, WhatWasMadeMeanwhileNeedNotHaveBeenReady) {
  Calls calls;
  for (int i = 0; i < 30; ++i) {
    calls.take(2, milliseconds{1});
    calls.demand.made();
    calls.demand.made();
    calls.demand.made();  // more than was taken is no credit
  }
  EXPECT_EQ(calls.demand.peak(calls.now), 2u);
}

TEST(Demand, ForgetsABurstAfterAMinute) {
  Calls calls;
  calls.take(20, milliseconds{0});
  calls.now += seconds{30};
  calls.take(5, milliseconds{0});
  calls.now += seconds{29};
  EXPECT_EQ(calls.demand.peak(calls.now), 20u);
  calls.now += seconds{1};
  EXPECT_EQ(calls.demand.peak(calls.now), 5u) << "the smaller one since";
  calls.now += seconds{30};
  EXPECT_EQ(calls.demand.peak(calls.now), 0u);
}

}  // namespace
}  // namespace belljar::linux_driver
