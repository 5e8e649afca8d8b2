#include "mcp/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace belljar::mcp {
namespace {

using testing::ElementsAre;

// Feeds `text` in chunks of `size` bytes and returns the lines; "<long>" stands for one that is too
// long.
std::vector<std::string> split(std::string_view text, size_t size, size_t max_line = 100) {
  LineSplitter splitter{max_line};
  std::vector<std::string> lines;
  const auto add = [&lines](const LineSplitter::Line& line) {
    lines.emplace_back(line.too_long ? "<long>" : line.text);
  };
  while (!text.empty()) {
    splitter.feed(text.substr(0, size));
    text.remove_prefix(std::min(size, text.size()));
    while (const auto line = splitter.next()) add(*line);
  }
  if (const auto line = splitter.finish()) add(*line);
  return lines;
}

TEST(LineSplitter, GivesTheSameLinesHoweverTheBytesArrive) {
  for (size_t size = 1; size < 20; ++size) {
    EXPECT_THAT(split("one\ntwo\r\n\nthree\n", size), ElementsAre("one", "two", "", "three"));
  }
}

TEST(LineSplitter, StripsOneCarriageReturnOnly) {
  EXPECT_THAT(split("a\r\r\nb\rc\n", 100), ElementsAre("a\r", "b\rc"));
}

TEST(LineSplitter, GivesALastLineWithoutNewline) {
  EXPECT_THAT(split("a\nb", 1), ElementsAre("a", "b"));
  EXPECT_THAT(split("b\r", 1), ElementsAre("b"));
}

TEST(LineSplitter, ReportsALineThatIsTooLongOnceAndSkipsIt) {
  for (size_t size = 1; size < 40; ++size) {
    EXPECT_THAT(split("ab\n0123456789012345678901234567\nok\n", size, 10),
                ElementsAre("ab", "<long>", "ok"));
  }
}

TEST(LineSplitter, AllowsALineOfExactlyTheLimit) {
  for (size_t size = 1; size < 20; ++size) {
    EXPECT_THAT(split("0123456789\n01234567890\n", size, 10), ElementsAre("0123456789", "<long>"));
  }
}

TEST(LineSplitter, DropsALongLineThatNeverEnds) {
  EXPECT_THAT(split("01234567890123456789", 3, 10), ElementsAre("<long>"));
}

}  // namespace
}  // namespace belljar::mcp
