#include "runtime/release_schedule.h"

namespace belljar::runtime {
namespace {

using namespace std::chrono;

constexpr uint64_t kFirstYearly = 27;

Date released(uint64_t major) {
  if (major >= kFirstYearly) return year{static_cast<int>(2000 + major)} / April / 22;
  const year when{static_cast<int>(2013 + major / 2)};
  return major % 2 == 0 ? when / April / 22 : when / October / 15;
}

Date becomes_lts(uint64_t major) {
  return year_month_day{released(major)}.year() / October / 28;
}

}  // namespace

bool is_lts(uint64_t major, Date today) {
  if (major < kFirstYearly && major % 2 != 0) return false;
  return major < 1000 && becomes_lts(major) <= today;
}

uint64_t newest_lts_major(Date today) {
  uint64_t newest = kOldestMajor;
  for (uint64_t major = kOldestMajor; major < 1000 && released(major) <= today; ++major)
    if (is_lts(major, today)) newest = major;
  return newest;
}

uint64_t newest_major(Date today) {
  uint64_t newest = kOldestMajor;
  while (newest < 1000 && released(newest + 1) <= today) ++newest;
  return newest;
}

Date today() {
  return floor<days>(system_clock::now());
}

}  // namespace belljar::runtime
