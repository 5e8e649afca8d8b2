#include "network/name_book.h"

#include <gtest/gtest.h>

#include "network/traffic_log.h"

namespace belljar::network {
namespace {

using std::chrono::seconds;
using Names = std::vector<std::string>;

const asio::ip::address kOne = asio::ip::make_address("93.184.216.34");
const asio::ip::address kOther = asio::ip::make_address("2606:4700::1111");

DnsAnswer answer(const asio::ip::address& address, uint32_t ttl) {
  DnsAnswer result;
  result.addresses.emplace_back(address, ttl);
  return result;
}

TEST(NameBook, AnswersHoldForTheirTimeAndAMoment) {
  NameBook book;
  const Clock::Time now{};
  book.remember("a.test", answer(kOne, 60), now);
  EXPECT_EQ(book.names_of(kOne, now), Names{"a.test"});
  EXPECT_EQ(book.names_of(kOther, now), Names{});
  EXPECT_EQ(book.names_of(kOne, now + seconds{90}), Names{"a.test"});
  EXPECT_EQ(book.names_of(kOne, now + seconds{91}), Names{});
}

TEST(NameBook, AnAnswerForWeeksHoldsForAnHour) {
  NameBook book;
  const Clock::Time now{};
  book.remember("a.test", answer(kOne, ~0u), now);
  EXPECT_EQ(book.names_of(kOne, now + seconds{3601}), Names{"a.test"});
  EXPECT_EQ(book.names_of(kOne, now + seconds{3700}), Names{});
}

TEST(NameBook, TheLastNameOfAnAddressComesFirst) {
  NameBook book;
  const Clock::Time now{};
  book.remember("a.test", answer(kOne, 60), now);
  book.remember("b.test", answer(kOne, 60), now);
  book.remember("a.test", answer(kOne, 60), now);
  EXPECT_EQ(book.names_of(kOne, now), (Names{"a.test", "b.test"}));
}

TEST(NameBook, ItDoesNotGrowForEver) {
  NameBook book;
  const Clock::Time now{};
  for (uint32_t i = 0; i < 5000; ++i)
    book.remember("x.test", answer(asio::ip::address_v4{i}, 1), now);
  book.remember("late.test", answer(kOther, 60), now);
  EXPECT_EQ(book.names_of(kOther, now), Names{});
  book.remember("late.test", answer(kOther, 60), now + seconds{60});  // others have run out by then
  EXPECT_EQ(book.names_of(kOther, now + seconds{60}), Names{"late.test"});
}

TEST(TrafficLog, CountsByPlaceAndVerdict) {
  TrafficLog log;
  log.attempt("a.test", 443, Traffic::Verdict::allowed)->bytes += 10;
  log.attempt("a.test", 443, Traffic::Verdict::allowed)->bytes += 5;
  log.attempt("a.test", 443, Traffic::Verdict::failed);
  log.attempt("b.test", 0, Traffic::Verdict::blocked);
  const auto all = log.all();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].bytes, 15u);
  EXPECT_EQ(all[0].attempts, 2u);
  EXPECT_EQ(all[1].verdict, Traffic::Verdict::failed);
  EXPECT_EQ(all[2].host, "b.test");
}

TEST(TrafficLog, TheRestIsCountedTogether) {
  TrafficLog log;
  for (int i = 0; i < 1000; ++i)
    log.attempt(std::to_string(i) + ".test", 443, Traffic::Verdict::blocked);
  const auto all = log.all();
  ASSERT_EQ(all.size(), 257u);
  EXPECT_EQ(all.back().host, "*");
  EXPECT_EQ(all.back().attempts, 744u);
}

}  // namespace
}  // namespace belljar::network
