#include "runtime/image_name.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace belljar::runtime {
namespace {

using namespace std::chrono;
using packages::parse_version;
using testing::HasSubstr;

const Date kToday = 2026y / November / 15;

bool means(const char* name, const char* version) {
  return parse_image_name(name).means(parse_version(version).value(), kToday);
}

std::string error_of(std::string_view name) {
  try {
    parse_image_name(name);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid);
    return error.what();
  }
  return "no error";
}

TEST(ImageName, LtsIsTheNewestLongTermSupportVersion) {
  for (const char* name :
       {"node", "node:lts", "node:lts-slim", "node:lts-bookworm-slim", "node:slim", "node:bookworm",
        "node:26", "node:26-slim", "node:lithium"}) {
    EXPECT_TRUE(means(name, "26.10.0")) << name;
    EXPECT_FALSE(means(name, "24.21.0")) << name;
  }
}

TEST(ImageName, CanNameAVersionMoreOrLessExactly) {
  EXPECT_TRUE(means("node:24-slim", "24.21.0"));
  EXPECT_TRUE(means("node:24.21-bookworm", "24.21.0"));
  EXPECT_FALSE(means("node:24.2", "24.21.0"));
  EXPECT_TRUE(means("node:24.21.0", "24.21.0"));
  EXPECT_FALSE(means("node:24.21.1", "24.21.0"));
  EXPECT_TRUE(means("node:jod-slim", "22.1.0"));
  EXPECT_FALSE(means("node:24", "24.0.0-rc.1"));
}

TEST(ImageName, LatestIsTheNewestMajor) {
  EXPECT_TRUE(means("node:latest", "26.0.0"));
  EXPECT_TRUE(means("node:current-slim", "27.0.0"));
  EXPECT_FALSE(means("node:latest", "24.21.0"));
}

TEST(ImageName, AcceptsAnotherLtsInPlaceOfTheNewestOne) {
  const ImageName lts = parse_image_name("node:lts");
  EXPECT_TRUE(lts.accepts(parse_version("22.1.0").value(), kToday));
  EXPECT_FALSE(lts.accepts(parse_version("25.1.0").value(), kToday));
  EXPECT_FALSE(lts.accepts(parse_version("18.1.0").value(), kToday));
  EXPECT_FALSE(parse_image_name("node:24").accepts(parse_version("22.1.0").value(), kToday));
}

TEST(ImageName, RefusesAlpineAndOldVersionsWithAReason) {
  EXPECT_THAT(error_of("node:22-alpine"), HasSubstr("musl"));
  EXPECT_THAT(error_of("node:alpine3.20"), HasSubstr("use -slim"));
  EXPECT_THAT(error_of("node:18-slim"), HasSubstr("20 and newer"));
  EXPECT_THAT(error_of("node:0"), HasSubstr("20 and newer"));
}

TEST(ImageName, RefusesEverythingElseWithExamples) {
  using namespace std::string_view_literals;
  for (const std::string_view name : {""sv,
                                      "node:"sv,
                                      "python:3"sv,
                                      "\"x\"; rm -rf /"sv,
                                      "--privileged"sv,
                                      "node:--privileged"sv,
                                      "node:22;id"sv,
                                      "node:22\n"sv,
                                      "node:22\0x"sv,
                                      "node:^22"sv,
                                      "node:22."sv,
                                      "node:.22"sv,
                                      "node:22.1.0.0"sv,
                                      "node:22 "sv,
                                      "node:../../etc"sv,
                                      "evil/node:22"sv,
                                      "node:22@sha256:0"sv,
                                      "node:-slim"sv,
                                      "NODE:22"sv,
                                      "node:99999999999999999999"sv})
    EXPECT_THAT(error_of(name), HasSubstr("node:lts-slim")) << name;
}

TEST(ImageName, QuotesAtMostEightyPrintableCharacters) {
  const std::string error = error_of("node:" + std::string(4096, 'x'));
  EXPECT_LT(error.size(), 250u);
  EXPECT_LE(quote_briefly(std::string(4096, 'x')).size(), 82u);
  EXPECT_EQ(quote_briefly("a\nb\x1b\x7f"), "\"a?b??\"");
  EXPECT_EQ(quote_briefly(std::string{"a\0b", 3}), "\"a?b\"");
}

}  // namespace
}  // namespace belljar::runtime
