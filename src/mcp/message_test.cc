#include "mcp/message.h"

#include <gtest/gtest.h>

#include <limits>

#include "mcp/protocol.h"

namespace belljar::mcp {
namespace {

using Kind = Message::Kind;

int code_of(std::string_view text) {
  const Message message = parse_message(text);
  return message.kind == Kind::invalid ? message.error.code : 0;
}

std::string echo_of(std::string_view id) {
  const auto message =
      parse_message(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"m"}})", id));
  return message.id ? json::serialize(*message.id) : "none";
}

TEST(Message, IsARequestIfItHasAMethodAndAnId) {
  const auto message = parse_message(R"({"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1}})");
  EXPECT_EQ(message.kind, Kind::request);
  EXPECT_EQ(message.method, "m");
  EXPECT_EQ(*message.id, Id(7));
  EXPECT_EQ(message.params.at("a"), json::value(1));
}

TEST(Message, IsANotificationIfItHasAMethodButNoId) {
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","method":"m"})").kind, Kind::notification);
}

TEST(Message, IsAResponseIfItHasAnIdAndAResultOrError) {
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":1,"result":{}})").kind, Kind::response);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":"s","error":{"code":1}})").kind, Kind::response);
}

TEST(Message, IsABatchIfItIsAnArray) {
  EXPECT_EQ(parse_message("[1,2]").batch.size(), 2u);
  EXPECT_EQ(parse_message("[]").kind, Kind::batch);
  EXPECT_EQ(classify(json::array{}).kind, Kind::invalid);
}

TEST(Message, ToleratesUnknownMembersAndParamsThatAreNull) {
  const auto message =
      parse_message(R"({"x":[],"jsonrpc":"2.0","id":1,"method":"m","params":null})");
  EXPECT_EQ(message.kind, Kind::request);
  EXPECT_TRUE(message.params.empty());
}

TEST(Message, KeepsTypeAndValueOfIds) {
  for (const char* id : {"0", "1", "-5", "\"\"", "\"1\"", "9223372036854775807",
                         "18446744073709551615", "\"\xc3\xa9\"", "9007199254740993"}) {
    EXPECT_EQ(echo_of(id), id);
  }
  EXPECT_NE(key_of(Id(1)), key_of(Id("1")));
}

TEST(Message, TakesAFloatWithAnIntegerValueForTheInteger) {
  EXPECT_EQ(echo_of("3.0"), "3");
  EXPECT_EQ(echo_of("1e6"), "1000000");
}

TEST(Message, RefusesIdsThatCannotBeEchoed) {
  for (const char* id : {"null", "true", "1.5", "{}", "[1]", "18446744073709551616", "1e300"}) {
    const auto text = fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"m"}})", id);
    EXPECT_EQ(code_of(text), kInvalidRequest) << id;
    EXPECT_FALSE(parse_message(text).id) << id;
  }
}

TEST(Message, IsInvalidButKeepsAUsableIdIfItIsNotJsonRpc) {
  for (const char* text :
       {R"({"id":5})", R"({"id":5,"method":"m"})", R"({"jsonrpc":"1.0","id":5,"method":"m"})",
        R"({"jsonrpc":"2.0","id":5})", R"({"jsonrpc":"2.0","id":5,"method":7})",
        R"({"jsonrpc":"2.0","id":5,"method":"m","params":[1]})"}) {
    EXPECT_EQ(code_of(text), kInvalidRequest) << text;
    EXPECT_EQ(*parse_message(text).id, Id(5)) << text;
  }
  for (const char* text : {"1", "null", "\"x\"", "{}", R"({"jsonrpc":"2.0"})"}) {
    EXPECT_EQ(code_of(text), kInvalidRequest) << text;
  }
}

TEST(Message, IsAParseErrorIfItIsNotJson) {
  for (const char* text :
       {"", "{", R"({"jsonrpc":"2.0","id":1,"meth)", "nonsense", "{} {}", "{'a':1}", "\x01"}) {
    EXPECT_EQ(code_of(text), kParseError) << text;
  }
}

TEST(Message, IsAParseErrorIfItIsNotUtf8) {
  EXPECT_EQ(code_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"), kParseError);
  EXPECT_EQ(code_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}"), kParseError);
}

TEST(Message, IsAParseErrorIfASurrogateStandsAlone) {
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"\ud800"})"), kParseError);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"\udc00x"})"), kParseError);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"\ud83d\ude00"})"), 0);
}

TEST(Message, IsAParseErrorIfItIsNestedTooDeeply) {
  EXPECT_EQ(code_of(std::string(1u << 20, '[')), kParseError);
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += R"({"a":)";
  EXPECT_EQ(code_of(objects), kParseError);
}

TEST(Message, IsInvalidIfItIsTooLarge) {
  const std::string text = R"({"jsonrpc":"2.0","method":"m"})";
  EXPECT_EQ(parse_message(text, text.size()).kind, Kind::notification);
  EXPECT_EQ(parse_message(text, text.size() - 1).error.code, kInvalidRequest);
}

TEST(Message, IsWrittenOnOneLine) {
  const auto line = make_result(Id("a\nb"), json::object{{"text", "x\r\ny\xe2\x80\xa8"}}).text;
  EXPECT_EQ(line,
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\\nb\",\"result\":"
            "{\"text\":\"x\\r\\ny\xe2\x80\xa8\"}}");
}

TEST(Message, HasNoIdIfAnErrorHasNone) {
  const auto error =
      make_error(std::nullopt, RpcError{-32700, "Parse error"}, Outgoing::Kind::refusal);
  EXPECT_EQ(error.text, R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}})");
  EXPECT_EQ(error.code, -32700);
}

TEST(Message, IsWellFormedUtf8EvenIfAToolIsNot) {
  const auto line = make_result(Id(1), json::object{{"text", "a\xe2\x82"}}).text;
  EXPECT_EQ(line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":\"a\xef\xbf\xbd\"}}");
}

}  // namespace
}  // namespace belljar::mcp
