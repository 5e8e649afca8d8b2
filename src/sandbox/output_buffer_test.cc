#include "sandbox/output_buffer.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace belljar {
namespace {

CapturedOutput capture(size_t limit, std::initializer_list<std::string_view> pieces) {
  OutputBuffer buffer{limit};
  for (const std::string_view piece : pieces) buffer.write(piece);
  return buffer.take();
}

TEST(OutputBuffer, KeepsEverythingUpToTheLimit) {
  const CapturedOutput output = capture(10, {"01234", "", "56789"});
  EXPECT_EQ(output.text, "0123456789");
  EXPECT_EQ(output.total_bytes, 10u);
  EXPECT_FALSE(output.truncated);
}

TEST(OutputBuffer, IsEmptyWhenNothingWasWritten) {
  const CapturedOutput output = capture(10, {});
  EXPECT_EQ(output.text, "");
  EXPECT_FALSE(output.truncated);
}

TEST(OutputBuffer, DropsTheMiddleAndSaysSoOnALineOfItsOwn) {
  const CapturedOutput output = capture(8, {"abcd", "efgh", "ij", "klm"});
  EXPECT_EQ(output.text, "abcd\n[… 5 bytes omitted …]\njklm");
  EXPECT_EQ(output.total_bytes, 13u);
  EXPECT_TRUE(output.truncated);
}

TEST(OutputBuffer, AddsNoEmptyLineBeforeTheMark) {
  EXPECT_EQ(capture(4, {"a\nbcdef"}).text, "a\n[… 3 bytes omitted …]\nef");
}

TEST(OutputBuffer, GivesTheSameResultHoweverTheBytesWereCut) {
  std::string all;
  for (int i = 0; i < 5000; ++i) all += std::to_string(i) + "é";
  const CapturedOutput whole = capture(1001, {all});
  for (const size_t size : {1u, 3u, 7u, 499u, 500u, 501u, 1001u, 4096u}) {
    OutputBuffer buffer{1001};
    for (size_t at = 0; at < all.size(); at += size) {
      buffer.write(std::string_view{all}.substr(at, size));
    }
    EXPECT_EQ(buffer.take().text, whole.text) << "pieces of " << size;
  }
}

TEST(OutputBuffer, DoesNotCutCharactersAtTheGap) {
  for (size_t limit = 4; limit < 40; ++limit) {
    const CapturedOutput output = capture(limit, {"aé€😀aé€😀aé€😀aé€😀aé€😀aé€😀aé€😀"});
    EXPECT_TRUE(output.truncated);
    EXPECT_EQ(output.text.find("\xef\xbf\xbd"), std::string::npos) << output.text;
  }
}

TEST(OutputBuffer, CountsTheBytesOfCutCharactersAsOmitted) {
  // Two bytes of the first € and one of the second would have fitted.
  EXPECT_EQ(capture(4, {"€xx€y"}).text, "[… 8 bytes omitted …]\ny");
}

TEST(OutputBuffer, ReplacesWhatIsNotText) {
  const CapturedOutput output = capture(100, {"a\xff\x80z\xc3"});
  EXPECT_EQ(output.text, "a\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd");
  EXPECT_EQ(output.total_bytes, 5u);
}

TEST(OutputBuffer, JoinsACharacterThatArrivedInTwoPieces) {
  EXPECT_EQ(capture(4, {"a\xc3", "\xa9z"}).text, "aéz");
}

TEST(OutputBuffer, StaysWithinItsLimitForAHugeStream) {
  OutputBuffer buffer{1u << 20};
  const std::string chunk(65536, '\x80');  // the worst case: every byte becomes three
  for (int i = 0; i < 1600; ++i) buffer.write(chunk);
  const CapturedOutput output = buffer.take();
  EXPECT_EQ(output.total_bytes, 100u << 20);
  EXPECT_LE(output.text.size(), (3u << 20) + 64);
  EXPECT_TRUE(is_utf8(output.text));
}

TEST(OutputBuffer, WorksWithLimitsThatLeaveNoRoom) {
  EXPECT_EQ(capture(0, {"abc"}).text, "[… 3 bytes omitted …]\n");
  EXPECT_EQ(capture(1, {"abc"}).text, "a\n[… 2 bytes omitted …]\n");
}

}  // namespace
}  // namespace belljar
