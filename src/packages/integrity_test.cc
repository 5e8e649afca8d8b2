#include "packages/integrity.h"

#include <gtest/gtest.h>

#include "base/posix.h"

namespace belljar::packages {
namespace {

// Of the three bytes "abc" (FIPS 180).
constexpr const char* kSha512 =
    "sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/"
    "uu9RU1EI2Q86A4qmslPpUyknw==";
constexpr const char* kSha1 = "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=";

bool fits(const std::string& content, const std::string& integrity) {
  const Fd file = make_memory_file("test", content);
  return matches(file.get(), parse_integrity(integrity).value());
}

TEST(Integrity, AcceptsTheRightContentOnly) {
  EXPECT_TRUE(fits("abc", kSha512));
  EXPECT_TRUE(fits("abc", kSha1));
  EXPECT_FALSE(fits("abd", kSha512));
  EXPECT_FALSE(fits("", kSha512));
}

TEST(Integrity, TakesTheStrongestEntry) {
  const auto integrity = parse_integrity(std::string{kSha1} + " md5-xxx " + kSha512 + "?opt");
  ASSERT_TRUE(integrity);
  EXPECT_EQ(integrity->algorithm, "sha512");
  // A right sha1 does not make up for a wrong sha512.
  EXPECT_FALSE(fits("abc", std::string{kSha1} + " sha512-" + std::string(86, 'A') + "=="));
}

TEST(Integrity, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "md5-1B2M2Y8AsgTpgAmY7PhCfg==", "sha512-short", "sha512", "rubbish"})
    EXPECT_FALSE(parse_integrity(text)) << text;
}

TEST(Integrity, UnderstandsAShasum) {
  const auto integrity = integrity_from_shasum("a9993e364706816aba3e25717850c26c9cd0d89d");
  ASSERT_TRUE(integrity);
  EXPECT_EQ("sha1-" + integrity->digest, kSha1);
  EXPECT_FALSE(integrity_from_shasum("a999"));
  EXPECT_FALSE(integrity_from_shasum(std::string(40, 'g')));
}

}  // namespace
}  // namespace belljar::packages
