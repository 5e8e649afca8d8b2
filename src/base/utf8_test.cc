#include "base/utf8.h"

#include <gtest/gtest.h>

namespace belljar {
namespace {

TEST(Utf8, AcceptsTextOfEveryLength) {
  EXPECT_TRUE(is_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\x94"));
}

TEST(Utf8, RejectsIllFormedText) {
  for (const char* bad : {"\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xff", "\xe2\x82"}) {
    EXPECT_FALSE(is_utf8(bad)) << bad;
  }
}

TEST(Utf8, ReplacesEachIllFormedSequenceByOneCharacter) {
  EXPECT_EQ(to_utf8("a\x80z"), "a\xef\xbf\xbdz");
  EXPECT_EQ(to_utf8("\xe2\x82"), "\xef\xbf\xbd");
  EXPECT_EQ(to_utf8("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(to_utf8("\xf0\x9f\x94\x94"), "\xf0\x9f\x94\x94");
}

TEST(Utf8, WhatItReturnsIsAlwaysWellFormed) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes += static_cast<char>((i * 7919) >> 3);
  EXPECT_TRUE(is_utf8(to_utf8(bytes)));
}

TEST(Utf8, PrefixNeverCutsACharacter) {
  const std::string text = "a\xf0\x9f\x94\x94z";
  EXPECT_EQ(utf8_prefix(text, 1), 1u);
  EXPECT_EQ(utf8_prefix(text, 2), 1u);
  EXPECT_EQ(utf8_prefix(text, 4), 1u);
  EXPECT_EQ(utf8_prefix(text, 5), 5u);
  EXPECT_EQ(utf8_prefix(text, 99), 6u);
}

TEST(Utf8, FindsTheBeginningOfACharacterAtTheEnd) {
  EXPECT_EQ(utf8_complete(""), 0u);
  EXPECT_EQ(utf8_complete("ab"), 2u);
  EXPECT_EQ(utf8_complete("aé"), 3u);
  EXPECT_EQ(utf8_complete("a\xc3"), 1u);
  EXPECT_EQ(utf8_complete("a\xe2\x82"), 1u);
  EXPECT_EQ(utf8_complete("a\xf0\x9f\x98"), 1u);
  EXPECT_EQ(utf8_complete("\x80\x80\x80\x80"), 4u);
}

}  // namespace
}  // namespace belljar
