#include "tools/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing.h"

namespace belljar::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Type = Parameter::Type;

std::vector<Parameter> parameters() {
  return {
      Parameter{.name = "code", .required = true, .min_length = 1, .max_length = 1024},
      Parameter{.name = "timeoutMs",
                .type = Type::integer,
                .fallback = json::value(30000),
                .min = 1,
                .max = 600000},
      Parameter{.name = "ratio", .type = Type::number, .min = 0},
      Parameter{.name = "loud", .type = Type::boolean},
      Parameter{.name = "language", .choices = {"javascript", "typescript"}},
      Parameter{.name = "args", .type = Type::array, .fields = {Parameter{.min_length = 1}}},
      Parameter{.name = "env", .type = Type::map},
      Parameter{.name = "limits",
                .type = Type::object,
                .fields = {Parameter{
                    .name = "memory", .type = Type::bytes, .min = 1024, .max = 1 << 30}}},
  };
}

Arguments read(std::string_view text) {
  return Arguments::read(parameters(), json::parse(text).as_object());
}
std::string refusal(std::string_view text) {
  return error_of([text] { read(text); });
}
std::string refusal_of_code(const std::string& code) {
  json::object sent;
  sent["code"] = code;
  return error_of([&sent] { Arguments::read(parameters(), sent); });
}

TEST(Arguments, AreReadWithTheirTypesAndDefaults) {
  const Arguments arguments = read(R"({"code":"x","ratio":2,"loud":true,"args":["a","b"],
      "env":{"A":"1","B":""},"limits":{"memory":"64k"},"language":null})");
  EXPECT_EQ(arguments.string("code"), "x");
  EXPECT_EQ(arguments.integer("timeoutMs"), 30000);
  EXPECT_EQ(arguments.number("ratio"), 2.0);
  EXPECT_TRUE(arguments.boolean("loud"));
  EXPECT_THAT(arguments.strings("args"), ElementsAre("a", "b"));
  EXPECT_EQ(arguments.count("args"), 2u);
  EXPECT_EQ(arguments.map("env").at("A"), "1");
  EXPECT_EQ(arguments.object("limits").bytes("memory"), 65536u);
  EXPECT_FALSE(arguments.has("language"));
}

TEST(Arguments, ThatWereNotGivenAreEmpty) {
  const Arguments arguments = read(R"({"code":"x"})");
  EXPECT_TRUE(arguments.strings("args").empty());
  EXPECT_TRUE(arguments.map("env").empty());
  EXPECT_FALSE(arguments.object("limits").has("memory"));
}

TEST(Arguments, AnIntegerMayBeWrittenWithAFractionOfZero) {
  EXPECT_EQ(read(R"({"code":"x","timeoutMs":1.0})").integer("timeoutMs"), 1);
  EXPECT_EQ(read(R"({"code":"x","timeoutMs":6e2})").integer("timeoutMs"), 600);
}

TEST(Arguments, BadNumbersAreNamedWithWhatTheyMayBe) {
  const std::string may = "; it must be an integer from 1 to 600000";
  const std::string is = "argument \"timeoutMs\" is ";
  EXPECT_EQ(refusal(R"({"code":"x","timeoutMs":-5})"), is + "-5" + may);
  EXPECT_EQ(refusal(R"({"code":"x","timeoutMs":0})"), is + "0" + may);
  EXPECT_EQ(refusal(R"({"code":"x","timeoutMs":1.5})"), is + "1.5" + may);
  EXPECT_EQ(refusal(R"({"code":"x","timeoutMs":600001})"), is + "600001" + may);
  EXPECT_EQ(refusal(R"({"code":"x","timeoutMs":1e300})"), is + "1e+300" + may);
  EXPECT_EQ(refusal(R"({"code":"x","timeoutMs":18446744073709551615})"),
            is + "18446744073709551615" + may);
  EXPECT_EQ(refusal(R"({"code":"x","timeoutMs":"5"})"), is + "\"5\"" + may);
  EXPECT_EQ(refusal(R"({"code":"x","timeoutMs":[5]})"), is + "an array of 1" + may);
  EXPECT_EQ(refusal(R"({"code":"x","ratio":-0.5})"),
            "argument \"ratio\" is -0.5; it must be a number of at least 0");
}

TEST(Arguments, BadTextIsNamedWithWhatItMayBe) {
  EXPECT_EQ(refusal("{}"),
            "argument \"code\" is missing; it must be a non-empty string of at most 1 KiB");
  EXPECT_EQ(refusal(R"({"code":""})"),
            "argument \"code\" is \"\"; it must be a non-empty string of at most 1 KiB");
  EXPECT_EQ(
      refusal_of_code(std::string(2048, 'x')),
      "argument \"code\" is a string of 2 KiB; it must be a non-empty string of at most 1 KiB");
  EXPECT_EQ(refusal(R"({"code":7})"),
            "argument \"code\" is 7; it must be a non-empty string of at most 1 KiB");
  EXPECT_EQ(refusal(R"({"code":"a\u0000b"})"),
            "argument \"code\" contains a NUL character at byte 1; it must be text without U+0000");
  EXPECT_EQ(refusal_of_code("a\xff"),
            "argument \"code\" is not valid UTF-8; it must be Unicode text");
  EXPECT_EQ(refusal(R"({"code":"x","language":"perl"})"),
            "argument \"language\" is \"perl\"; it must be one of \"javascript\", \"typescript\"");
}

TEST(Arguments, PartsOfListsMapsAndObjectsAreNamedByTheirPlace) {
  EXPECT_EQ(
      refusal(R"({"code":"x","args":"a"})"),
      "argument \"args\" is \"a\"; it must be an array whose items are each a non-empty string");
  EXPECT_EQ(refusal(R"({"code":"x","args":["a",""]})"),
            "argument \"args[1]\" is \"\"; it must be a non-empty string");
  EXPECT_EQ(refusal(R"({"code":"x","env":{"A":1}})"),
            "argument \"env.A\" is 1; it must be a string");
  EXPECT_EQ(refusal(R"({"code":"x","env":["A=1"]})"),
            "argument \"env\" is an array of 1; it must be an object whose values are strings");
  EXPECT_EQ(
      refusal(R"({"code":"x","limits":{"memory":"lots"}})"),
      "argument \"limits.memory\" is \"lots\"; it must be an amount such as \"512m\", \"1g\" or "
      "a number of bytes, from 1 KiB to 1 GiB");
  for (const char* memory : {"-1", "1.5", "\"2g\"", "12", "\"\"", "true", "\"1e999g\""}) {
    EXPECT_THAT(refusal(fmt::format(R"({{"code":"x","limits":{{"memory":{}}}}})", memory)),
                HasSubstr("argument \"limits.memory\" is "))
        << memory;
  }
}

TEST(Arguments, UnknownOnesAreNamedWithTheNearestKnownName) {
  EXPECT_EQ(refusal(R"({"code":"x","timeout":1})"),
            "argument \"timeout\" is unknown; did you mean \"timeoutMs\"?");
  EXPECT_EQ(refusal(R"({"code":"x","time_out_ms":1})"),
            "argument \"time_out_ms\" is unknown; did you mean \"timeoutMs\"?");
  EXPECT_EQ(refusal(R"({"code":"x","limits":{"memroy":1}})"),
            "argument \"limits.memroy\" is unknown; did you mean \"limits.memory\"?");
  EXPECT_EQ(refusal(R"({"code":"x","colour":1})"),
            "argument \"colour\" is unknown; it must be one of code, timeoutMs, ratio, loud, "
            "language, args, env, limits");
}

TEST(Arguments, AnErrorIsShortHoweverLongTheInput) {
  json::object sent;
  sent["code"] = "x";
  sent[std::string(100000, 'k')] = 1;
  EXPECT_LT(error_of([&sent] { Arguments::read(parameters(), sent); }).size(), 300u);
  json::object env;
  env[std::string(100000, 'k')] = 1;
  json::object other;
  other["code"] = "x";
  other["env"] = env;
  EXPECT_LT(error_of([&other] { Arguments::read(parameters(), other); }).size(), 300u);
}

}  // namespace
}  // namespace belljar::tools
