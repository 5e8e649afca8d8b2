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
