#include "mcp/event_stream.h"

#include <gtest/gtest.h>

#include <limits>

namespace belljar::mcp {
namespace {

class EventStreamTest : public ::testing::Test {
 protected:
  static Outgoing notice(size_t size) {
    return Outgoing{.kind = Outgoing::Kind::notification, .text = std::string(size, 'n')};
  }
  static Outgoing result(size_t size) {
    return Outgoing{.kind = Outgoing::Kind::result, .text = std::string(size, 'r')};
  }

  // The numbers of what is there.
  static std::vector<uint64_t> numbers(const EventStream& stream) {
    std::vector<uint64_t> all;
    for (const auto* e = stream.after(0); e != nullptr; e = stream.after(e->number))
      all.push_back(e->number);
    return all;
  }

  asio::io_context context_{1};
  EventBudget budget_{.limit = 1000};
};

using Numbers = std::vector<uint64_t>;

TEST_F(EventStreamTest, IsCompleteWithItsLastAnswer) {
  EventStream stream{context_.get_executor(), budget_, 100, 1, 2};
  stream.add(notice(1));
  stream.add(result(1));
  EXPECT_FALSE(stream.is_complete());
  stream.add(Outgoing{.kind = Outgoing::Kind::no_answer});
  EXPECT_TRUE(stream.is_complete());
  stream.add(notice(1));  // too late
  EXPECT_EQ(numbers(stream), (Numbers{1, 2}));
}

TEST_F(EventStreamTest, DropsTheOldestNotificationsButNoAnswers) {
  EventStream stream{context_.get_executor(), budget_, 100, 1, 2};
  stream.add(notice(60));
  stream.add(notice(30));
  stream.add(notice(50));
  EXPECT_EQ(numbers(stream), (Numbers{2, 3}));
  stream.add(result(500));
  EXPECT_EQ(numbers(stream), (Numbers{4}));
  stream.add(notice(1));  // no room, and nothing to drop
  stream.add(result(1));
  EXPECT_EQ(numbers(stream), (Numbers{4, 5}));
  EXPECT_EQ(budget_.used, 501u);
}

TEST_F(EventStreamTest, StreamsShareABudget) {
  EventStream first{context_.get_executor(), budget_, 5000, 1, 1};
  first.add(notice(600));
  {
    EventStream second{context_.get_executor(), budget_, 5000, 2, 1};
    second.add(notice(600));  // is not worth what another has
    EXPECT_EQ(numbers(second), Numbers{});
    second.add(result(600));
    EXPECT_TRUE(budget_.is_spent());
  }
  EXPECT_EQ(budget_.used, 600u);
  first.forget_until(1);
  EXPECT_EQ(budget_.used, 0u);
}

TEST_F(EventStreamTest, WhatNobodyReadsAnyMoreIsNotWorthMoreThanTheLimit) {
  EventStream fresh{context_.get_executor(), budget_, 100, 1, 1};
  fresh.add(result(500));  // somebody is about to read it
  EXPECT_FALSE(fresh.is_closed());
  EventStream left{context_.get_executor(), budget_, 100, 2, 2};
  left.detach(left.attach());
  left.add(result(400));
  EXPECT_FALSE(left.is_closed());
  left.add(result(200));
  EXPECT_TRUE(left.is_closed());
  EXPECT_TRUE(left.is_complete());
  EXPECT_EQ(numbers(left), Numbers{});
  EXPECT_EQ(budget_.used, 500u);
}

TEST_F(EventStreamTest, HasOneReader) {
  EventStream stream{context_.get_executor(), budget_, 100, 1, 1};
  const uint64_t first = stream.attach();
  const uint64_t second = stream.attach();
  EXPECT_FALSE(stream.is_mine(first));
  stream.detach(first);
  EXPECT_TRUE(stream.is_attached());
  stream.detach(second);
  EXPECT_FALSE(stream.is_attached());
}

TEST(EventId, HasOneForm) {
  const auto id = parse_event_id("12_0");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->stream, 12u);
  EXPECT_EQ(id->number, 0u);
  const EventId largest{std::numeric_limits<uint64_t>::max(), 1};
  EXPECT_EQ(parse_event_id(to_text(largest))->stream, largest.stream);
  for (const char* text : {"", "_", "1", "1_", "_1", "01_1", "1_01", "-1_1", "+1_1", " 1_1", "1_1 ",
                           "1_1_1", "0x1_1", "1_18446744073709551616", "a_b", "1-1"}) {
    EXPECT_FALSE(parse_event_id(text)) << text;
  }
}

}  // namespace
}  // namespace belljar::mcp
