#include "runtime/release_schedule.h"

#include <gtest/gtest.h>

namespace belljar::runtime {
namespace {

using namespace std::chrono;

TEST(ReleaseSchedule, MakesAnEvenMajorLtsInOctober) {
  EXPECT_EQ(newest_lts_major(2024y / October / 27), 20u);
  EXPECT_EQ(newest_lts_major(2024y / October / 28), 22u);
  EXPECT_EQ(newest_lts_major(2025y / October / 28), 24u);
  EXPECT_EQ(newest_lts_major(2026y / October / 27), 24u);
  EXPECT_EQ(newest_lts_major(2026y / November / 15), 26u);
}

TEST(ReleaseSchedule, HasOneMajorAYearFrom27On) {
  EXPECT_EQ(newest_lts_major(2027y / October / 27), 26u);
  EXPECT_EQ(newest_lts_major(2027y / October / 28), 27u);
  EXPECT_EQ(newest_lts_major(2030y / December / 1), 30u);
}

TEST(ReleaseSchedule, KnowsTheNewestMajor) {
  EXPECT_EQ(newest_major(2025y / May / 1), 24u);
  EXPECT_EQ(newest_major(2025y / November / 1), 25u);
  EXPECT_EQ(newest_major(2026y / November / 15), 26u);  // no 27 in October
  EXPECT_EQ(newest_major(2027y / May / 1), 27u);
}

TEST(ReleaseSchedule, NeverMakesAnOddMajorLtsBefore27) {
  const Date late = 2040y / January / 1;
  for (const uint64_t major : {21, 23, 25}) EXPECT_FALSE(is_lts(major, late)) << major;
  for (const uint64_t major : {20, 22, 24, 26, 27, 28}) EXPECT_TRUE(is_lts(major, late)) << major;
  EXPECT_FALSE(is_lts(999'999, late));
}

}  // namespace
}  // namespace belljar::runtime
