#include "tools/sandbox_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing.h"

namespace belljar::tools {
namespace {

using testing::HasSubstr;

Settings settings() {
  Settings result;
  result.default_limits.memory = 512u << 20;
  result.max_limits.memory = 1u << 30;
  result.default_limits.cpus = 8;
  result.max_limits.cpus = 2;  // below the default: the default counts
  return result;
}

Arguments read(std::string_view text) {
  const std::vector<Parameter> parameters{image_parameter(settings()),
                                          limits_parameter(settings())};
  return Arguments::read(parameters, json::parse(text).as_object());
}

TEST(ReadLimits, ChangesOnlyWhatWasGiven) {
  const Limits limits = read_limits(read(R"({"limits":{"memory":"256m","pids":64}})"), settings());
  EXPECT_EQ(limits.memory, 256u << 20);
  EXPECT_EQ(limits.pids, 64u);
  EXPECT_EQ(limits.cpus, 8);
  EXPECT_EQ(limits.disk, Limits{}.disk);
}

TEST(ReadLimits, StopsAtTheOperatorsMaximum) {
  EXPECT_EQ(read_limits(read(R"({"limits":{"memory":1073741824}})"), settings()).memory, 1u << 30);
  EXPECT_THAT(error_of([] { read(R"({"limits":{"memory":"2g"}})"); }),
              HasSubstr("from 32 MiB to 1 GiB"));
  EXPECT_EQ(read_limits(read(R"({"limits":{"cpus":8}})"), settings()).cpus, 8);
  EXPECT_THAT(error_of([] { read(R"({"limits":{"cpus":8.5}})"); }), HasSubstr("from 0.05 to 8"));
  EXPECT_THAT(error_of([] { read(R"({"limits":{"pids":-1}})"); }), HasSubstr("limits.pids"));
}

// With images of their own limits.
Settings with_images() {
  Settings result = settings();
  result.default_limits.cpus = 1;
  result.image_limits =
      ImageLimits::parse("acme/tools:*=memory:2g,pids:512; node:20*=memory:128m,cpus:0.5");
  return result;
}

Limits limits_with_images(std::string_view text) {
  const Settings all = with_images();
  const std::vector<Parameter> parameters{image_parameter(all), limits_parameter(all)};
  return read_limits(Arguments::read(parameters, json::parse(text).as_object()), all);
}

TEST(ReadLimits, OfAnImageTakeThePlaceOfTheUsualOnes) {
  EXPECT_EQ(limits_with_images("{}").memory, 512u << 20);
  const Limits tools = limits_with_images(R"({"image":"acme/tools:1"})");
  EXPECT_EQ(tools.memory, 2ull << 30);
  EXPECT_EQ(tools.pids, 512u);
  EXPECT_EQ(tools.cpus, 1);
  EXPECT_EQ(limits_with_images(R"({"image":"node:20-slim"})").cpus, 0.5);
}

TEST(ReadLimits, OfACallCountMoreThanThoseOfItsImage) {
  EXPECT_EQ(limits_with_images(R"({"image":"acme/tools:1","limits":{"memory":"64m"}})").memory,
            64u << 20);
  const Limits raised = limits_with_images(R"({"image":"node:20","limits":{"memory":"1g"}})");
  EXPECT_EQ(raised.memory, 1u << 30) << "up to the general maximum";
  EXPECT_EQ(raised.cpus, 0.5) << "what was not given stays";
}

TEST(ReadLimits, OfAnImageAboveTheMaximumAreItsMaximum) {
  EXPECT_EQ(limits_with_images(R"({"image":"acme/tools:1","limits":{"memory":"2g"}})").memory,
            2ull << 30);
  EXPECT_EQ(error_of([] { limits_with_images(R"({"image":"node:20","limits":{"memory":"2g"}})"); }),
            "argument \"limits.memory\" is 2 GiB; a sandbox of node:20 may have at most 1 GiB");
  EXPECT_THAT(
      error_of([] { limits_with_images(R"({"image":"acme/tools:1","limits":{"memory":"3g"}})"); }),
      HasSubstr("from 32 MiB to 2 GiB"));
}

TEST(LimitsParameter, SaysWhichImagesHaveLimitsOfTheirOwn) {
  EXPECT_THAT(limits_parameter(with_images()).description,
              HasSubstr("acme/tools:*: 2 GiB of memory, 1 CPU, 512 processes and threads, 256 MiB "
                        "of disk; node:20*: 128 MiB"));
  Settings other = with_images();
  other.default_image = "node:20";
  EXPECT_THAT(limits_parameter(other).fields.at(0).description, HasSubstr("Default 128 MiB"));
  EXPECT_EQ(limits_parameter(settings()).description.find("image"), std::string::npos);
}

TEST(ReadLimits, OfASandboxThatExistsMayOnlyBeRepeated) {
  Limits limits;
  EXPECT_NO_THROW(check_limits_unchanged(read("{}"), limits));
  EXPECT_NO_THROW(check_limits_unchanged(read(R"({"limits":{"memory":"512m"}})"), limits));
  EXPECT_THAT(error_of([&limits] {
                check_limits_unchanged(read(R"({"limits":{"memory":"256m"}})"), limits);
              }),
              HasSubstr("which is 512 MiB and cannot change"));
}

TEST(ReadImageName, RefusesWhatCannotBeOne) {
  EXPECT_EQ(read_image_name(read("{}")), "node:lts-slim");
  EXPECT_EQ(read_image_name(read(R"({"image":"node:24-slim"})")), "node:24-slim");
  for (const char* name :
       {"", "--privileged", "-v/:/h", "a b", "x@sha256:0", "../x", "a\\u0000b", "a\\nb", "$(id)"}) {
    const std::string sent = fmt::format(R"({{"image":"{}"}})", name);
    EXPECT_THAT(error_of([&sent] { read_image_name(read(sent)); }),
                HasSubstr("it must be an image name such as node:lts-slim"))
        << name;
  }
}

}  // namespace
}  // namespace belljar::tools
