#include "mcp/header_values.h"

#include <gtest/gtest.h>

#include <map>

#include "mcp/protocol.h"

namespace belljar::mcp {
namespace {

using Headers = std::map<std::string, std::string, std::less<>>;

HeaderLookup lookup(const Headers& headers) {
  return [&headers](std::string_view name) -> std::optional<std::string_view> {
    const auto at = headers.find(name);
    if (at == headers.end()) return std::nullopt;
    return at->second;
  };
}

json::object object(std::string_view text) {
  return json::parse(text).as_object();
}

TEST(HeaderValue, IsLiteralUnlessItHasBothMarks) {
  EXPECT_EQ(decode_header_value("run_js"), "run_js");
  EXPECT_EQ(decode_header_value(" \tsandbox exec\t "), "sandbox exec");
  EXPECT_EQ(decode_header_value(""), "");
  EXPECT_EQ(decode_header_value("=?base64?SGVsbG8="), "=?base64?SGVsbG8=");
  EXPECT_EQ(decode_header_value("SGVsbG8=?="), "SGVsbG8=?=");
  EXPECT_EQ(decode_header_value("=?BASE64?SGVsbG8=?="), "=?BASE64?SGVsbG8=?=");
  EXPECT_EQ(decode_header_value("=?base64?="), "=?base64?=");
}

TEST(HeaderValue, IsDecodedStrictly) {
  EXPECT_EQ(decode_header_value("=?base64?SGVsbG8=?="), "Hello");
  EXPECT_EQ(decode_header_value("=?base64?w6Q=?="), "\u00e4");
  EXPECT_EQ(decode_header_value("=?base64?"
                                "?="),
            "");
  for (const char* bad : {"=?base64?SGVsbG8?=", "=?base64?SGV!bG8=?=", "=?base64?SGVsbG9=?=",
                          "=?base64?SGVs bG8=?=", "=?base64?/w==?=", "=?base64?SGVsbG8-?="}) {
    EXPECT_EQ(decode_header_value(bad), std::nullopt) << bad;
  }
}

TEST(HeaderValue, IsPrintableAscii) {
  EXPECT_EQ(decode_header_value("a\x01"), std::nullopt);
  EXPECT_EQ(decode_header_value("\u00e4"), std::nullopt);
  EXPECT_EQ(decode_header_value("a\tb"), std::nullopt);
}

TEST(NameHeader, RepeatsWhatTheRequestIsAbout) {
  const Headers headers{{"Mcp-Name", "=?base64?ZmlsZTovLy/DpA==?="}};
  EXPECT_FALSE(
      check_name_header("resources/read", object(R"({"uri":"file:///ä"})"), lookup(headers)));
  EXPECT_EQ(name_to_repeat("tools/call", object(R"({"name":"x"})")), "x");
  EXPECT_EQ(name_to_repeat("prompts/get", object(R"({"name":"x"})")), "x");
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    EXPECT_EQ(name_to_repeat(method, object(R"({"taskId":"t"})")), "t");
  }
  EXPECT_EQ(name_to_repeat("tools/list", object(R"({"name":"x"})")), std::nullopt);
  EXPECT_EQ(name_to_repeat("tools/call", object(R"({"name":7})")), std::nullopt);
}

TEST(NameHeader, ThatIsMissingOrDiffersIsAnError) {
  const json::object params = object(R"({"name":"run_js"})");
  for (const Headers& headers :
       {Headers{}, Headers{{"Mcp-Name", "Run_js"}}, Headers{{"Mcp-Name", "=?base64?!?="}}}) {
    const auto error = check_name_header("tools/call", params, lookup(headers));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, kHeaderMismatch);
  }
}

const json::object kSchema = object(R"({"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},
    "count":{"type":"integer","x-mcp-header":"Count"},
    "dry":{"type":"boolean","x-mcp-header":"Dry"},
    "place":{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"City"}}},
    "free":{"type":"string"}}})");

bool agrees(std::string_view arguments, const Headers& headers) {
  const auto error = check_param_headers(kSchema, object(arguments), lookup(headers));
  if (error) EXPECT_EQ(error->code, kHeaderMismatch);
  return !error;
}

TEST(ParamHeaders, RepeatArguments) {
  EXPECT_TRUE(agrees(R"({"region":"eu","free":"x"})", {{"Mcp-Param-Region", "eu"}}));
  EXPECT_TRUE(agrees(R"({"region":"Hello"})", {{"Mcp-Param-Region", "=?base64?SGVsbG8=?="}}));
  EXPECT_TRUE(agrees(R"({"count":7})", {{"Mcp-Param-Count", "7"}}));
  EXPECT_TRUE(agrees(R"({"count":7.0})", {{"Mcp-Param-Count", "7"}}));
  EXPECT_TRUE(
      agrees(R"({"count":18446744073709551615})", {{"Mcp-Param-Count", "18446744073709551615"}}));
  EXPECT_TRUE(agrees(R"({"dry":false})", {{"Mcp-Param-Dry", "false"}}));
  EXPECT_TRUE(agrees(R"({"place":{"city":"Bonn"}})", {{"Mcp-Param-City", "Bonn"}}));
}

TEST(ParamHeaders, AreNotExpectedForAbsentArguments) {
  EXPECT_TRUE(agrees("{}", {}));
  EXPECT_TRUE(agrees(R"({"region":null})", {}));
  EXPECT_TRUE(agrees("{}", {{"Mcp-Param-Region", "eu"}}));
}

TEST(ParamHeaders, ThatDifferAreErrors) {
  EXPECT_FALSE(agrees(R"({"region":"eu"})", {}));
  EXPECT_FALSE(agrees(R"({"region":"eu"})", {{"Mcp-Param-Region", "us"}}));
  EXPECT_FALSE(agrees(R"({"region":"Hello"})", {{"Mcp-Param-Region", "=?base64?SGVsbG8?="}}));
  EXPECT_FALSE(agrees(R"({"count":7})", {{"Mcp-Param-Count", "8"}}));
  EXPECT_FALSE(agrees(R"({"count":7})", {{"Mcp-Param-Count", "seven"}}));
  EXPECT_FALSE(agrees(R"({"count":9007199254740993})", {{"Mcp-Param-Count", "9007199254740992"}}));
  EXPECT_FALSE(agrees(R"({"dry":true})", {{"Mcp-Param-Dry", "1"}}));
  EXPECT_FALSE(agrees(R"({"region":["eu"]})", {{"Mcp-Param-Region", "eu"}}));
  EXPECT_FALSE(agrees(R"({"place":{"city":"Bonn"}})", {{"Mcp-Param-City", "Berlin"}}));
}

}  // namespace
}  // namespace belljar::mcp
