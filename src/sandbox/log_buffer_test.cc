#include "sandbox/log_buffer.h"

#include <gtest/gtest.h>

namespace belljar {
namespace {

TEST(LogBuffer, GivesAReaderWhatIsNew) {
  LogBuffer log{100};
  log.write("one\n");
  const auto first = log.read(0, 1000, false);
  EXPECT_EQ(first.text, "one\n");
  log.write("two\n");
  const auto second = log.read(first.cursor, 1000, false);
  EXPECT_EQ(second.text, "two\n");
  EXPECT_EQ(log.read(second.cursor, 1000, false).text, "");
  EXPECT_EQ(log.read(0, 1000, false).text, "one\ntwo\n");
}

TEST(LogBuffer, ForgetsTheOldestAndSaysHowMuch) {
  LogBuffer log{10};
  for (int i = 0; i < 1000; ++i) log.write("0123456789");
  const auto part = log.read(0, 1000, true);
  EXPECT_GE(part.text.size(), 10u);
  EXPECT_LE(part.text.size(), 20u);
  EXPECT_EQ(part.dropped + part.text.size(), 10'000u);
  EXPECT_EQ(part.cursor, 10'000u);
}

TEST(LogBuffer, CutsAtTheAskedLengthButNotInsideACharacter) {
  LogBuffer log{100};
  log.write("abc€def");
  const auto part = log.read(0, 4, false);
  EXPECT_EQ(part.text, "abc");
  EXPECT_TRUE(part.more);
  EXPECT_EQ(log.read(part.cursor, 100, false).text, "€def");
}

TEST(LogBuffer, WaitsForTheRestOfACharacterUntilTheProgramHasEnded) {
  LogBuffer log{100};
  log.write("a\xe2\x82");
  const auto part = log.read(0, 100, false);
  EXPECT_EQ(part.text, "a");
  EXPECT_EQ(log.read(part.cursor, 100, false).text, "");
  EXPECT_EQ(log.read(part.cursor, 100, true).text, "\xef\xbf\xbd");
}

TEST(LogBuffer, TakesACursorFromTheFutureAsTheEnd) {
  LogBuffer log{100};
  log.write("text");
  const auto part = log.read(1'000'000, 100, false);
  EXPECT_EQ(part.text, "");
  EXPECT_EQ(part.cursor, 4u);
}

}  // namespace
}  // namespace belljar
