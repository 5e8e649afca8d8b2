#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/testing.h"

// The legacy era as a client sees it.
namespace belljar::mcp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

json::value parsed(std::string_view text) {
  return json::parse(text);
}

int64_t code_of(const json::value& answer) {
  return answer.at("error").at("code").as_int64();
}

class Legacy : public testing::Test {
 protected:
  Legacy() { add_tool(server, "echo", echo); }
  Server server{ServerInfo{"demo", "1.0.0", "Demo", "use it well"}};
};

TEST_F(Legacy, AnswersTheHandshakeWithWhatIsRegistered) {
  EXPECT_THAT(talk(server, {initialize("2025-11-25"), notification("notifications/initialized")}),
              ElementsAre(parsed(
                  R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25",
              "capabilities":{"tools":{"listChanged":true},"logging":{}},
              "serverInfo":{"name":"demo","version":"1.0.0","title":"Demo"},
              "instructions":"use it well"}})")));
}

TEST_F(Legacy, AgreesOnEveryLegacyVersion) {
  for (const char* version : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    const auto answers = talk(server, {initialize(version)});
    EXPECT_EQ(answers.at(0).at("result").at("protocolVersion"), json::value(version));
  }
}

TEST_F(Legacy, OffersTheNewestLegacyVersionForOneItDoesNotHave) {
  for (const char* version : {"2026-07-28", "1999-01-01", "nonsense", ""}) {
    const auto answers = talk(server, {initialize(version)});
    EXPECT_EQ(answers.at(0).at("result").at("protocolVersion"), json::value("2025-11-25"));
  }
}

TEST_F(Legacy, RefusesAHandshakeWithoutVersion) {
  const auto answers = talk(
      server, {request("1", "initialize"), request("2", "initialize", R"({"protocolVersion":7})")});
  EXPECT_EQ(code_of(answers.at(0)), -32602);
  EXPECT_EQ(code_of(answers.at(1)), -32602);
}

TEST_F(Legacy, AnswersPingAndLogLevel) {
  EXPECT_THAT(talk(server, {request("5", "logging/setLevel", R"({"level":"error"})"),
                            R"({"jsonrpc":"2.0","id":6,"method":"ping"})"}),
              ElementsAre(parsed(R"({"jsonrpc":"2.0","id":5,"result":{}})"),
                          parsed(R"({"jsonrpc":"2.0","id":6,"result":{}})")));
  const auto bad = talk(server, {request("1", "logging/setLevel", R"({"level":"loud"})")});
  EXPECT_EQ(code_of(bad.at(0)), -32602);
}

TEST_F(Legacy, ServesAClientThatSkipsTheHandshake) {
  const auto answers = talk(server, {R"({"jsonrpc":"2.0","id":"","method":"tools/list"})"});
  EXPECT_EQ(answers.at(0), parsed(R"({"jsonrpc":"2.0","id":"","result":{"tools":[{"name":"echo",
      "inputSchema":{"type":"object","additionalProperties":false},
      "annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,
                     "openWorldHint":true}}]}})"));
}

TEST_F(Legacy, CallsATool) {
  const auto answers =
      talk(server, {request("1", "tools/call", R"({"name":"echo","arguments":{"a":1}})"),
                    request("2", "tools/call", R"({"name":"echo"})")});
  EXPECT_THAT(
      answers,
      ElementsAre(
          parsed(
              R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"a\":1}"}]}})"),
          parsed(
              R"({"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{}"}]}})")));
}

TEST_F(Legacy, DoesNotHaveMethodsOfTheModernEraOrOfFeaturesThatAreNotThere) {
  for (const char* method : {"prompts/list", "resources/list", "resources/subscribe", "tasks/get",
                             "completion/complete", "subscriptions/listen", "nonsense", ""}) {
    const auto answers = talk(server, {request("1", method)});
    EXPECT_EQ(code_of(answers.at(0)), -32601) << method;
  }
  EXPECT_EQ(code_of(talk(server, {request("1", "server/discover")}).at(0)), -32602);
}

TEST_F(Legacy, NeverAnswersNotificationsOrResponses) {
  EXPECT_THAT(talk(server, {notification("nonsense"), notification("tools/call"),
                            R"({"jsonrpc":"2.0","id":1,"result":{}})",
                            notification("notifications/roots/list_changed")}),
              IsEmpty());
}

TEST_F(Legacy, AnswersWhatIsNoMessageWithAnError) {
  EXPECT_EQ(talk(server, {R"({"id":4,"method":"ping"})"}).at(0),
            parsed(R"({"jsonrpc":"2.0","id":4,"error":{"code":-32600,
                       "message":"jsonrpc must be \"2.0\""}})"));
  const auto answers = talk(server, {"{nonsense"});
  EXPECT_EQ(code_of(answers.at(0)), -32700);
  EXPECT_FALSE(answers.at(0).as_object().contains("id"));
}

TEST_F(Legacy, AnswersBatchesOnlyInTheVersionThatHasThem) {
  const std::string batch = "[" + request("1", "ping") + "," + notification("x") + "," +
                            request("2", "tools/call", R"({"name":"echo"})") + ",7]";
  const auto answers = talk(server, {initialize("2025-03-26"), batch});
  ASSERT_THAT(answers, SizeIs(4));
  const auto has_id = [](int id) {
    return testing::Truly([id](const json::value& answer) {
      const json::value* member = find(answer.as_object(), "id");
      return member != nullptr && *member == json::value(id);
    });
  };
  EXPECT_THAT(answers, testing::Contains(has_id(1)));
  EXPECT_THAT(answers, testing::Contains(has_id(2)));
  const auto error = R"({"code":-32600,"message":"A message must be an object"})";
  EXPECT_THAT(answers,
              testing::Contains(json::value{{"jsonrpc", "2.0"}, {"error", parsed(error)}}));
  for (const char* version : {"2024-11-05", "2025-06-18", "2025-11-25"}) {
    const auto refused = talk(server, {initialize(version), batch});
    ASSERT_THAT(refused, SizeIs(2));
    EXPECT_EQ(code_of(refused[1]), -32600);
  }
}

TEST_F(Legacy, RefusesBatchesThatAreEmptyTooLongOrHoldWhatMustStandAlone) {
  std::string pings = "[" + request("1", "ping");
  for (int i = 0; i < 100; ++i) pings += "," + request("1", "ping");
  const auto answers =
      talk(server, {initialize("2025-03-26"), "[]", pings + "]",
                    "[" + initialize("2025-11-25") + "]", "[" + modern("9", "tools/list") + "]"});
  ASSERT_THAT(answers, SizeIs(5));
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(code_of(answers[i]), -32600);
  EXPECT_EQ(answers[4].at("id"), json::value(9));
}

Task<ToolResult> odd_content(json::object, Call&) {
  ToolResult result;
  result.content = json::parse(R"([{"type":"audio","data":"AA==","mimeType":"audio/wav"},
      {"type":"resource_link","uri":"file:///x","name":"x"}])")
                       .as_array();
  co_return result;
}

std::string types_of(const json::value& answer) {
  std::string types;
  for (const auto& block : answer.at("result").at("content").as_array()) {
    types += std::string{block.at("type").as_string()} + " ";
  }
  return types;
}

TEST_F(Legacy, TurnsContentThatAnOldClientDoesNotKnowIntoText) {
  add_tool(server, "odd", odd_content);
  const std::string call = request("1", "tools/call", R"({"name":"odd"})");
  const auto oldest = talk(server, {initialize("2024-11-05"), call}).at(1);
  EXPECT_EQ(types_of(oldest), "text text ");
  EXPECT_EQ(oldest.at("result").at("content").at(1).at("text"), json::value("x: file:///x"));
  EXPECT_EQ(types_of(talk(server, {initialize("2025-03-26"), call}).at(1)), "audio text ");
  EXPECT_EQ(types_of(talk(server, {initialize("2025-06-18"), call}).at(1)), "audio resource_link ");
  EXPECT_EQ(types_of(talk(server, {call}).at(0)), "audio resource_link ");
}

void tools_changed(Server& server, Connection&) {
  server.announce_tools_changed();
}

TEST_F(Legacy, AnnouncesChangesOnlyAfterTheHandshake) {
  EXPECT_THAT(talk(server, {tools_changed}), IsEmpty());
  EXPECT_THAT(talk(server, {notification("notifications/initialized"), tools_changed}), IsEmpty());
  EXPECT_THAT(talk(server, {initialize("2025-11-25"), tools_changed}), SizeIs(1));
  const auto messages = talk(
      server, {initialize("2025-11-25"), notification("notifications/initialized"), tools_changed});
  ASSERT_THAT(messages, SizeIs(2));
  EXPECT_EQ(messages[1],
            parsed(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"));
}

}  // namespace
}  // namespace belljar::mcp
