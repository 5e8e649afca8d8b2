#include "base/bytes.h"

#include <gtest/gtest.h>

namespace belljar {
namespace {

TEST(ParseBytes, KnowsTheUsualForms) {
  EXPECT_EQ(parse_bytes("512m"), 512ull << 20);
  EXPECT_EQ(parse_bytes("1g"), 1ull << 30);
  EXPECT_EQ(parse_bytes("64KiB"), 64ull << 10);
  EXPECT_EQ(parse_bytes("1048576"), 1048576u);
  EXPECT_EQ(parse_bytes("1.5g"), 3ull << 29);
  EXPECT_EQ(parse_bytes("10b"), 10u);
}

TEST(ParseBytes, RefusesEverythingElse) {
  for (const char* bad :
       {"", "m", "-1", "5x", "1 g", "1e9", "0x10", "9999999t", "0.5", "nan", "inf", "5mm"}) {
    EXPECT_EQ(parse_bytes(bad), std::nullopt) << bad;
  }
}

TEST(FormatBytes, UsesTheLargestUnitThatFits) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(512ull << 20), "512 MiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
}

TEST(Base64, PadsAsTheStandardSays) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64(std::string_view{"\xff\x00\xfe", 3}), "/wD+");
}

TEST(Base64, IsReadBackAndNothingElseIs) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(parse_base64(base64(bytes)), bytes);
    bytes += static_cast<char>(i * 7);
  }
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zm9v\n", "Zm 9", "Zm-v",
                           "=m9v", "Zm9vZg==Zm9v"}) {
    EXPECT_FALSE(parse_base64(text)) << text;
  }
}

}  // namespace
}  // namespace belljar
