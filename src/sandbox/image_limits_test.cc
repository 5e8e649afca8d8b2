#include "sandbox/image_limits.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace belljar {
namespace {

using testing::HasSubstr;

constexpr Limits kUsual{.memory = 512u << 20, .cpus = 1, .pids = 256, .disk = 256u << 20};

ImageLimits example() {
  return ImageLimits::parse(
      "ghcr.io/acme/playwright:*=memory:2g,cpus:2.5,pids:1024,disk:1g; node:20*=memory:256m;"
      "node:*=pids:64");
}

std::string refusal(std::string_view text) {
  try {
    ImageLimits::parse(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::invalid);
    return e.what();
  }
  return "no error";
}

TEST(ImageLimits, AreThoseOfThePatternThatMatches) {
  const Limits limits = example().of("ghcr.io/acme/playwright:1.40", kUsual);
  EXPECT_EQ(limits.memory, 2ull << 30);
  EXPECT_EQ(limits.cpus, 2.5);
  EXPECT_EQ(limits.pids, 1024u);
  EXPECT_EQ(limits.disk, 1ull << 30);
  EXPECT_EQ(limits.inodes, kUsual.inodes);
}

TEST(ImageLimits, AreOfTheFirstPatternThatMatchesAndOfNoOther) {
  const Limits limits = example().of("node:20-slim", kUsual);
  EXPECT_EQ(limits.memory, 256u << 20);
  EXPECT_EQ(limits.pids, kUsual.pids) << "node:* matches, too, but comes later";
  EXPECT_EQ(example().of("node:24", kUsual).pids, 64u);
}

TEST(ImageLimits, LeaveOtherImagesAlone) {
  for (const char* image : {"", "mynode:20", "ghcr.io/acme/playwright", "localhost/node:20"}) {
    const Limits limits = example().of(image, kUsual);
    EXPECT_EQ(limits.memory, kUsual.memory) << image;
    EXPECT_EQ(limits.pids, kUsual.pids) << image;
  }
  EXPECT_EQ(ImageLimits{}.of("node:20", kUsual).memory, kUsual.memory);
}

TEST(ImageLimits, AreWrittenAsTheyCanBeReadAgain) {
  const std::string text = example().text();
  EXPECT_EQ(text,
            "ghcr.io/acme/playwright:*=memory:2g,cpus:2.5,pids:1024,disk:1g; node:20*=memory:256m; "
            "node:*=pids:64");
  EXPECT_EQ(ImageLimits::parse(text).text(), text);
  const std::string odd = "a=memory:16777217,disk:1025k";
  EXPECT_EQ(ImageLimits::parse(odd).text(), odd);
  EXPECT_EQ(ImageLimits{}.text(), "");
}

TEST(ImageLimits, ThatCannotBeReadAreRefusedWithTheirPlace) {
  EXPECT_EQ(refusal("node:*=memory:1g;node:20*=memory:lots"),
            "entry 2: \"memory\" is \"lots\", not a size such as 512m, 1g or a number of bytes, at "
            "least 16 MiB");
  EXPECT_EQ(refusal("a=cpus:0"), "entry 1: \"cpus\" is \"0\", not a number from 0.01 to 1000");
  EXPECT_EQ(refusal("a=pids:64,ram:1g"),
            "entry 1: \"ram\" is no limit; those there are: memory, cpus, pids, disk");
  EXPECT_EQ(refusal("a=pids:64,pids:65"), "entry 1: \"pids\" is given twice");
  EXPECT_EQ(refusal("node:20*"),
            "entry 1: \"node:20*\" lacks its limits: write node:20*=memory:256m");
  EXPECT_THAT(refusal("a=memory"), HasSubstr("\"memory\" is not of the form NAME:VALUE"));
  EXPECT_THAT(refusal("a=memory:1g;"), HasSubstr("entry 2: \"\" is not the name of an image"));
  for (const char* bad : {"",
                          ";",
                          "=memory:1g",
                          "a=",
                          "a=:",
                          "a=memory:",
                          "a=memory:1m",
                          "a=cpus:nan",
                          "a=cpus:1001",
                          "a=pids:15",
                          "a=pids:100001",
                          "a=pids:1.5",
                          "a=pids:-1",
                          "a=disk:1k",
                          "a b=memory:1g",
                          "[ab]=memory:1g",
                          "a?=memory:1g",
                          "a\\*=memory:1g",
                          "a==memory:1g",
                          "a=memory:1g cpus:2"}) {
    EXPECT_THAT(refusal(bad), HasSubstr("entry ")) << bad;
  }
}

}  // namespace
}  // namespace belljar
