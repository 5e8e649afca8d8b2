#include "mcp/modern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/testing.h"

// The modern era as a client sees it; most expectations are wire examples of the protocol's fact
// sheet.
namespace belljar::mcp {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

json::value parsed(std::string_view text) {
  return json::parse(text);
}

int64_t code_of(const json::value& answer) {
  return answer.at("error").at("code").as_int64();
}

const std::string kServer =
    R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"demo","version":"1.0.0"}})";

class Modern : public testing::Test {
 protected:
  Modern() { add_tool(server, "echo", echo); }
  Server server{demo()};
};

TEST_F(Modern, DescribesItselfToDiscover) {
  EXPECT_EQ(talk(server, {modern("\"d1\"", "server/discover")}).at(0),
            parsed(R"({"jsonrpc":"2.0","id":"d1","result":{"resultType":"complete",
                "supportedVersions":["2026-07-28"],
                "capabilities":{"tools":{"listChanged":true},"logging":{}},
                "ttlMs":300000,"cacheScope":"public",)" +
                   kServer + "}}"));
}

TEST_F(Modern, ListsToolsWithCacheHints) {
  const auto answer = talk(server, {modern("1", "tools/list")}).at(0);
  EXPECT_EQ(answer.at("result").at("resultType"), json::value("complete"));
  EXPECT_EQ(answer.at("result").at("ttlMs"), json::value(300000));
  EXPECT_EQ(answer.at("result").at("cacheScope"), json::value("public"));
  EXPECT_EQ(answer.at("result").at("tools").at(0).at("name"), json::value("echo"));
}

Task<ToolResult> structured(json::object, Call& call) {
  call.progress("half", 2);
  call.log(LogLevel::info, "demo", "running");
  ToolResult result;
  result.content.emplace_back(text_block(R"({"ok":true})"));
  result.structured = json::object{{"ok", true}};
  co_return result;
}

TEST_F(Modern, CallsAToolWithProgressAndLog) {
  add_tool(server, "run_js", structured);
  const auto call = modern("2", "tools/call", R"("name":"run_js","arguments":{"code":"1"})",
                           R"("progressToken":"p1","io.modelcontextprotocol/logLevel":"debug")");
  EXPECT_THAT(
      talk(server, {call}),
      ElementsAre(parsed(R"({"jsonrpc":"2.0","method":"notifications/progress","params":
              {"progressToken":"p1","progress":1,"total":2,"message":"half"}})"),
                  parsed(R"({"jsonrpc":"2.0","method":"notifications/message","params":
              {"level":"info","logger":"demo","data":"running"}})"),
                  parsed(R"({"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":
              [{"type":"text","text":"{\"ok\":true}"}],"structuredContent":{"ok":true},)" +
                         kServer + "}}")));
}

TEST_F(Modern, KnowsNoUnknownToolAndNoRemovedMethod) {
  EXPECT_EQ(talk(server, {modern("4", "tools/call", R"("name":"nope")")}).at(0),
            parsed(R"({"jsonrpc":"2.0","id":4,"error":
                {"code":-32602,"message":"Unknown tool: nope"}})"));
  for (const char* method : {"initialize", "ping", "logging/setLevel", "resources/subscribe",
                             "resources/unsubscribe", "tasks/list", "prompts/list", "nonsense"}) {
    EXPECT_EQ(talk(server, {modern("8", method)}).at(0), parsed(R"({"jsonrpc":"2.0","id":8,"error":
                  {"code":-32601,"message":"Method not found"}})"))
        << method;
  }
}

std::string with_meta(std::string_view meta) {
  return request("11", "tools/list", fmt::format(R"({{"_meta":{}}})", meta));
}

constexpr const char* kVersion = R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")";
constexpr const char* kCapabilities = R"("io.modelcontextprotocol/clientCapabilities":{})";

TEST_F(Modern, DemandsTheCapabilitiesOfTheClient) {
  EXPECT_EQ(talk(server, {with_meta(fmt::format("{{{}}}", kVersion))}).at(0),
            parsed(R"({"jsonrpc":"2.0","id":11,"error":{"code":-32602,"message":
      "Invalid params: _meta is missing io.modelcontextprotocol/clientCapabilities"}})"));
}

TEST_F(Modern, DoesNotDemandTheNameOfTheClient) {
  const auto answer = talk(server, {with_meta(fmt::format("{{{},{}}}", kVersion, kCapabilities))});
  EXPECT_TRUE(answer.at(0).as_object().contains("result"));
}

TEST_F(Modern, RefusesAnEnvelopeWithWrongTypes) {
  const std::string complete = fmt::format("{},{}", kVersion, kCapabilities);
  for (const std::string& meta :
       {R"({"io.modelcontextprotocol/protocolVersion":7,)" + std::string{kCapabilities} + "}",
        R"({"io.modelcontextprotocol/clientCapabilities":[],)" + std::string{kVersion} + "}",
        R"({"io.modelcontextprotocol/clientInfo":"c",)" + complete + "}",
        R"({"io.modelcontextprotocol/clientInfo":{"name":"c"},)" + complete + "}",
        R"({"io.modelcontextprotocol/logLevel":"loud",)" + complete + "}",
        R"({"io.modelcontextprotocol/logLevel":1,)" + complete + "}"}) {
    EXPECT_EQ(code_of(talk(server, {with_meta(meta)}).at(0)), -32602) << meta;
  }
}

TEST_F(Modern, RefusesOtherVersionsOnEveryRequest) {
  for (const char* version : {"2099-01-01", "2025-11-25", ""}) {
    const auto line = with_meta(fmt::format(
        R"({{"io.modelcontextprotocol/protocolVersion":"{}",{}}})", version, kCapabilities));
    const auto answers = talk(server, {modern("1", "tools/list"), line});
    EXPECT_EQ(answers.at(1), parsed(fmt::format(R"({{"jsonrpc":"2.0","id":11,"error":
        {{"code":-32022,"message":"Unsupported protocol version",
        "data":{{"supported":["2026-07-28"],"requested":"{}"}}}}}})",
                                                version)));
  }
}

TEST_F(Modern, LivesBesideTheLegacyEraOnOneConnection) {
  const auto answers = talk(server, {modern("1", "tools/list"), initialize("2025-11-25"),
                                     modern("2", "server/discover"), request("3", "tools/list")});
  ASSERT_THAT(answers, SizeIs(4));
  EXPECT_TRUE(answers[0].at("result").as_object().contains("resultType"));
  EXPECT_EQ(answers[1].at("result").at("protocolVersion"), json::value("2025-11-25"));
  EXPECT_TRUE(answers[2].at("result").as_object().contains("supportedVersions"));
  for (const char* key : {"resultType", "ttlMs", "cacheScope", "_meta"}) {
    EXPECT_FALSE(answers[3].at("result").as_object().contains(key));
  }
}

TEST_F(Modern, WritesIntegersAsIntegers) {
  EXPECT_EQ(make_result(Id(1),
                        [&] {
                          json::object result;
                          complete_result(result, "tools/list", server);
                          result.erase("_meta");
                          return result;
                        }())
                .text,
            R"({"jsonrpc":"2.0","id":1,"result":)"
            R"({"resultType":"complete","ttlMs":300000,"cacheScope":"public"}})");
}

}  // namespace
}  // namespace belljar::mcp
