#include "packages/semver.h"

#include <gtest/gtest.h>

namespace belljar::packages {
namespace {

Version version(const char* text) {
  return parse_version(text).value();
}

bool accepts(const char* range, const char* text) {
  const auto parsed = Range::parse(range);
  EXPECT_TRUE(parsed) << range;
  return parsed && parsed->accepts(version(text));
}

TEST(Version, IsParsedAndWrittenBack) {
  for (const char* text : {"0.0.0", "1.2.3", "26.10.0", "1.0.0-rc.1", "1.0.0-0.a-b.7"})
    EXPECT_EQ(to_string(version(text)), text);
  EXPECT_EQ(to_string(version("v1.2.3+build.007")), "1.2.3");
}

TEST(Version, RefusesWhatIsNone) {
  for (const char* text :
       {"", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.x", "1.2.3-", "1.2.3-01", "1.2.3-a..b", "-1.2.3",
        "1.2.3 ", "99999999999999999999.0.0", "1.2.3-ä", "latest", "1.2.3+"})
    EXPECT_FALSE(parse_version(text)) << text;
  EXPECT_FALSE(parse_version("1.2.3-" + std::string(300, 'a')));
}

TEST(Version, IsOrderedAsSemverSays) {
  const char* ascending[] = {"1.0.0-0",       "1.0.0-9",    "1.0.0-10",     "1.0.0-alpha",
                             "1.0.0-alpha.1", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-rc.1",
                             "1.0.0",         "1.0.1",      "1.9.0",        "1.10.0",
                             "2.0.0-a",       "2.0.0",      "10.0.0"};
  for (size_t i = 0; i + 1 < std::size(ascending); ++i)
    EXPECT_LT(version(ascending[i]), version(ascending[i + 1])) << ascending[i];
}

struct Case {
  const char* range;
  const char* inside;
  const char* outside;
};

// The same ranges as node-semver's own tests use.
TEST(Range, AcceptsWhatNpmAccepts) {
  const Case cases[] = {
      {"^1.2.3", "1.9.0", "2.0.0"},
      {"^1.2.3", "1.2.3", "1.2.2"},
      {"^0.2.3", "0.2.9", "0.3.0"},
      {"^0.0.3", "0.0.3", "0.0.4"},
      {"^0.0", "0.0.9", "0.1.0"},
      {"^0", "0.9.9", "1.0.0"},
      {"~1.2.3", "1.2.9", "1.3.0"},
      {"~1.2", "1.2.0", "1.3.0"},
      {"~1", "1.9.9", "2.0.0"},
      {"~> 1.2", "1.2.7", "1.3.0"},
      {"1.2.3", "1.2.3", "1.2.4"},
      {"=1.2.3", "1.2.3", "1.2.4"},
      {"1.2", "1.2.9", "1.3.0"},
      {"1", "1.9.9", "2.0.0"},
      {"1.x", "1.9.9", "2.0.0"},
      {"1.2.*", "1.2.9", "1.3.0"},
      {">=1.2", "1.2.0", "1.1.9"},
      {"> 1.2", "1.3.0", "1.2.9"},
      {">1.2.3", "1.2.4", "1.2.3"},
      {"<1.2", "1.1.9", "1.2.0"},
      {"<=1.2", "1.2.9", "1.3.0"},
      {"<=1.2.3", "1.2.3", "1.2.4"},
      {">=1.0.0 <2", "1.5.0", "2.0.0"},
      {">= 1.0.0   < 2.0.0", "1.5.0", "2.0.0"},
      {"1.2 - 2.3", "2.3.9", "2.4.0"},
      {"1.2.3 - 2.3.4", "1.2.3", "2.3.5"},
      {"1.x || >=2.5.0", "2.5.0", "2.4.9"},
      {"^20.17.0 || >=22.9.0", "20.20.2", "21.0.0"},
      {"^22.22.2 || ^24.15.0 || >=26.0.0", "24.21.0", "25.1.0"},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(accepts(c.range, c.inside)) << c.range << " " << c.inside;
    EXPECT_FALSE(accepts(c.range, c.outside)) << c.range << " " << c.outside;
  }
  EXPECT_TRUE(accepts("*", "7.7.7"));
  EXPECT_TRUE(accepts("", "7.7.7"));
  EXPECT_TRUE(accepts("x", "0.0.0"));
  EXPECT_FALSE(accepts("<*", "0.0.0"));
}

TEST(Range, AcceptsAPrereleaseOnlyWhereItNamesOne) {
  EXPECT_FALSE(accepts("*", "1.0.0-rc.1"));
  EXPECT_FALSE(accepts("^1.2.3", "2.0.0-rc.1"));
  EXPECT_FALSE(accepts("^1.2.3", "1.3.0-rc.1"));
  EXPECT_FALSE(accepts("<2", "2.0.0-rc.1"));
  EXPECT_TRUE(accepts("^1.2.3-beta.1", "1.2.3-beta.2"));
  EXPECT_FALSE(accepts("^1.2.3-beta.1", "1.2.4-beta.2"));
  EXPECT_TRUE(accepts("1.0.0-rc.1", "1.0.0-rc.1"));
}

TEST(Range, RefusesWhatIsNone) {
  for (const char* text : {"latest", "file:../x", "git+https://x", "^a", "1.2.3.4", ">>1",
                           "npm:x@1", "=>1", ">", "^", "v", "1.2.y", "-1", "^1 beta", "1 - a"})
    EXPECT_FALSE(Range::parse(text)) << text;
  EXPECT_FALSE(Range::parse(std::string(600, '1')));
}

}  // namespace
}  // namespace belljar::packages
