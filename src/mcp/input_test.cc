#include "mcp/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/prompt.h"
#include "mcp/resource.h"
#include "mcp/testing.h"

// Handlers that ask the client, as clients of both eras see them.
namespace belljar::mcp {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

json::object object(std::string_view text) {
  return json::parse(text).as_object();
}

InputRequest form(std::string_view message) {
  return {"elicitation/create", json::object{{"mode", "form"}, {"message", message}}};
}

ToolResult text_result(std::string_view text) {
  ToolResult result;
  result.content.emplace_back(text_block(text));
  return result;
}

// The name that the client gave to the question `key`, if it is usable.
std::optional<std::string> name_in(const Call& call, std::string_view key) {
  const json::object* answer = find_object(call.input_responses(), key);
  const json::object* content = answer != nullptr ? find_object(*answer, "content") : nullptr;
  const json::string* name = content != nullptr ? find_string(*content, "name") : nullptr;
  if (name == nullptr) return std::nullopt;
  return std::string{*name};
}

Task<ToolResult> greet(json::object arguments, Call& call) {
  const auto name = name_in(call, "user");
  if (!name) {
    call.ask(InputRequired{{{"user", form("Name?")}}});
    co_return ToolResult{};
  }
  co_return text_result(fmt::format("hi {} {}", *name, json::serialize(arguments)));
}

// Two rounds, and a state that remembers the first.
Task<ToolResult> two_steps(json::object, Call& call) {
  const auto first = name_in(call, "first");
  const auto second = name_in(call, "second");
  if (first && call.request_state() == "1") {
    call.ask(InputRequired{{{"second", form("And?")}}, "2" + *first});
  } else if (!second || !call.request_state().starts_with("2")) {
    call.ask(InputRequired{{{"first", form("First?")}}, "1"});
  } else {
    co_return text_result(call.request_state() + *second);
  }
  co_return ToolResult{};
}

Task<ToolResult> need_everything(json::object, Call& call) {
  if (!call.input_responses().empty()) {
    co_return text_result(json::serialize(call.input_responses()));
  }
  InputRequired input;
  input.requests["a"] = form("?");
  input.requests["b"] = InputRequest{"sampling/createMessage", json::object{{"maxTokens", 1}}};
  input.requests["c"] = InputRequest{"roots/list"};
  call.ask(std::move(input));
  co_return ToolResult{};
}

class AskingPrompt final : public Prompt {
 public:
  const PromptInfo& info() const override { return info_; }
  Task<PromptResult> get(json::object, Call& call) override {
    PromptResult result;
    const auto name = name_in(call, "user");
    if (!name) {
      call.ask(InputRequired{{{"user", form("Name?")}}});
    } else {
      result.messages.emplace_back(prompt_message("user", text_block(*name)));
    }
    co_return result;
  }

 private:
  PromptInfo info_{"p", "", "", {}};
};

class AskingSource final : public ResourceSource {
 public:
  Task<std::vector<ResourceInfo>> list(Call&) override { co_return std::vector<ResourceInfo>{}; }
  std::vector<ResourceTemplateInfo> templates() const override { return {}; }
  Task<std::optional<json::array>> read(std::string uri, Call& call) override {
    const auto name = name_in(call, "user");
    json::array contents;
    if (!name) {
      call.ask(InputRequired{{{"user", form("Name?")}}});
    } else {
      contents.emplace_back(text_contents(uri, "text/plain", *name));
    }
    co_return contents;
  }
};

class Input : public testing::Test {
 protected:
  explicit Input(ServerOptions options = {}) : server{demo(), options} {
    add_asking("greet", greet);
    add_asking("two_steps", two_steps);
    add_asking("everything", need_everything);
    server.add(std::make_unique<AskingPrompt>());
    server.add(std::make_unique<AskingSource>());
  }

  void add_asking(std::string name, FunctionTool::Function function) {
    ToolInfo info;
    info.name = std::move(name);
    info.asks = true;
    add_tool(server, std::move(info), std::move(function));
  }

  Server server;
};

// A modern request of a client with these capabilities.
std::string able(std::string_view method, std::string_view members,
                 std::string_view capabilities = R"({"elicitation":{}})") {
  return request("1", method,
                 fmt::format(R"({{{},"_meta":{{)"
                             R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                             R"("io.modelcontextprotocol/clientCapabilities":{}}}}})",
                             members, capabilities));
}

std::string call(std::string_view name, std::string_view more = "") {
  return able("tools/call", fmt::format(R"("name":"{}"{})", name, more));
}

const std::string kBo = R"("inputResponses":{"user":{"action":"accept","content":{"name":"Bo"}}})";

std::string text_of(const json::value& answer) {
  return std::string{answer.at("result").at("content").at(0).at("text").as_string()};
}

int64_t code_of(const json::value& answer) {
  return answer.at("error").at("code").as_int64();
}

using ModernInput = Input;

TEST_F(ModernInput, IsAskedForByTheResult) {
  EXPECT_EQ(talk(server, {call("greet")}).at(0), json::parse(R"({"jsonrpc":"2.0","id":1,"result":{
      "resultType":"input_required","inputRequests":{"user":{"method":"elicitation/create",
      "params":{"mode":"form","message":"Name?"}}},
      "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"demo","version":"1.0.0"}}}})"));
  EXPECT_EQ(text_of(talk(server, {call("greet", R"(,"arguments":{"a":1},)" + kBo)}).at(0)),
            R"(hi Bo {"a":1})");
}

TEST_F(ModernInput, OfPromptsAndResources) {
  for (const auto& [method, member] :
       {std::pair{"prompts/get", R"("name":"p")"}, std::pair{"resources/read", R"("uri":"x:y")"}}) {
    const auto asked = talk(server, {able(method, member)}).at(0).at("result");
    EXPECT_EQ(asked.at("resultType"), json::value("input_required"));
    EXPECT_FALSE(asked.as_object().contains("ttlMs"));
    const auto done = talk(server, {able(method, std::string{member} + "," + kBo)}).at(0);
    EXPECT_EQ(done.at("result").at("resultType"), json::value("complete"));
    EXPECT_THAT(json::serialize(done), HasSubstr("Bo"));
  }
}

TEST_F(ModernInput, ThatIsMissingOrUselessIsAskedForAgain) {
  for (const char* responses : {"{}", R"({"other":{"action":"accept"}})", R"({"user":7})",
                                R"({"user":{"action":"decline"}})"}) {
    const auto answer =
        talk(server, {call("greet", fmt::format(R"(,"inputResponses":{})", responses))}).at(0);
    EXPECT_EQ(answer.at("result").at("resultType"), json::value("input_required")) << responses;
  }
  for (const char* responses : {"null", "7", "[]"}) {
    const auto answer =
        talk(server, {call("greet", fmt::format(R"(,"inputResponses":{})", responses))}).at(0);
    EXPECT_EQ(code_of(answer), -32602) << responses;
  }
}

TEST_F(ModernInput, HasASignedStateFromRoundToRound) {
  const auto first = talk(server, {call("two_steps")}).at(0).at("result");
  const auto next = [](const char* key, const char* name, const json::value& state) {
    return fmt::format(R"(,"inputResponses":{{"{}":{{"content":{{"name":"{}"}}}}}},)"
                       R"("requestState":{})",
                       key, name, json::serialize(state));
  };
  const json::value& state = first.at("requestState");
  const auto second = talk(server, {call("two_steps", next("first", "A", state))}).at(0);
  const json::value& changed = second.at("result").at("requestState");
  EXPECT_NE(changed, state);
  const auto last = talk(server, {call("two_steps", next("second", "B", changed))}).at(0);
  EXPECT_EQ(text_of(last), "2AB");

  const json::value tampered(std::string{state.as_string()} + "-TAMPERED");
  for (const json::value& bad : {tampered, json::value(7), json::value(nullptr), json::value("")}) {
    const auto answer = talk(server, {call("two_steps", next("first", "A", bad))}).at(0);
    EXPECT_EQ(code_of(answer), -32602) << bad;
  }
  const auto other_arguments = R"(,"arguments":{"x":1})" + next("first", "A", state);
  EXPECT_EQ(code_of(talk(server, {call("two_steps", other_arguments)}).at(0)), -32602);
  EXPECT_EQ(code_of(talk(server, {call("greet", next("first", "A", state))}).at(0)), -32602);
}

TEST_F(ModernInput, NeedsTheCapabilities) {
  const auto required = [this](std::string_view capabilities) {
    const auto answer =
        talk(server, {able("tools/call", R"("name":"everything")", capabilities)}).at(0);
    EXPECT_EQ(code_of(answer), -32021);
    return json::serialize(answer.at("error").at("data").at("requiredCapabilities"));
  };
  EXPECT_EQ(required("{}"), R"({"elicitation":{"form":{}},"sampling":{},"roots":{}})");
  EXPECT_EQ(required(R"({"elicitation":{"url":{}},"roots":{}})"),
            R"({"elicitation":{"form":{}},"sampling":{}})");
  EXPECT_EQ(required(R"({"elicitation":{"form":{}},"sampling":{}})"), R"({"roots":{}})");
}

TEST(MissingCapabilities, AreThoseOfTheKindOfRequest) {
  const auto missing = [](InputRequest one, std::string_view declared) {
    return json::serialize(
        missing_capabilities(InputRequired{{{"q", std::move(one)}}}, object(declared)));
  };
  const InputRequest url{"elicitation/create", object(R"({"mode":"url"})")};
  EXPECT_EQ(missing(url, R"({"elicitation":{}})"), R"({"elicitation":{"url":{}}})");
  EXPECT_EQ(missing(url, R"({"elicitation":{"url":{}}})"), "{}");
  const InputRequest tools{"sampling/createMessage", object(R"({"tools":[]})")};
  EXPECT_EQ(missing(tools, R"({"sampling":{}})"), R"({"sampling":{"tools":{}}})");
  EXPECT_EQ(missing(tools, R"({"sampling":{"tools":{}}})"), "{}");
  EXPECT_EQ(missing(InputRequest{"nonsense"}, R"({"sampling":{}})"), R"({"nonsense":{}})");
}

TEST_F(ModernInput, IsNotAskedForByToolsThatDoNotSaySo) {
  add_tool(server, "quiet", greet);
  EXPECT_EQ(talk(server, {call("quiet")}).at(0).at("result").at("resultType"),
            json::value("complete"));
}

std::string handshake(std::string_view version, std::string_view capabilities) {
  return request("0", "initialize",
                 fmt::format(R"({{"protocolVersion":"{}","capabilities":{},)"
                             R"("clientInfo":{{"name":"c","version":"1"}}}})",
                             version, capabilities));
}

std::string response(std::string_view id, std::string_view result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":"{}","result":{}}})", id, result);
}

const std::string kCall = request("10", "tools/call", R"({"name":"greet","arguments":{"a":1}})");
const std::string kAble = R"({"elicitation":{},"sampling":{},"roots":{}})";

class LegacyInput : public Input {
 protected:
  using Input::Input;
  // What the server says after the handshake.
  std::vector<json::value> talk_legacy(std::vector<Step> steps,
                                       std::string_view version = "2025-11-25",
                                       std::string_view capabilities = kAble) {
    steps.insert(steps.begin(), handshake(version, capabilities));
    auto received = talk(server, std::move(steps));
    received.erase(received.begin());
    return received;
  }
};

TEST_F(LegacyInput, IsAskedForByRequestsOfOurs) {
  const auto received =
      talk_legacy({kCall, response("s1", R"({"action":"accept","content":{"name":"Zed"}})")});
  ASSERT_THAT(received, SizeIs(2));
  EXPECT_EQ(received[0], json::parse(R"({"jsonrpc":"2.0","id":"s1","method":"elicitation/create",
      "params":{"mode":"form","message":"Name?"}})"));
  EXPECT_EQ(received[1], json::parse(R"({"jsonrpc":"2.0","id":10,"result":{"content":[
      {"type":"text","text":"hi Zed {\"a\":1}"}]}})"));
}

TEST_F(LegacyInput, HasNoModeInOldVersions) {
  const auto received = talk_legacy({kCall}, "2025-06-18");
  EXPECT_EQ(received.at(0).at("params"), json::parse(R"({"message":"Name?"})"));
}

TEST_F(LegacyInput, MayTakeSeveralRoundsAndRequests) {
  const auto rounds = talk_legacy({request("1", "tools/call", R"({"name":"two_steps"})"),
                                   response("s1", R"({"content":{"name":"A"}})"),
                                   response("s2", R"({"content":{"name":"B"}})")});
  ASSERT_THAT(rounds, SizeIs(3));
  EXPECT_EQ(text_of(rounds[2]), "2AB");
  const auto several = talk_legacy({request("1", "tools/call", R"({"name":"everything"})"),
                                    response("s3", R"({"roots":[]})"), response("s1", R"({"x":1})"),
                                    response("s2", R"({"y":2})")});
  ASSERT_THAT(several, SizeIs(4));
  EXPECT_EQ(text_of(several[3]), R"({"a":{"x":1},"b":{"y":2},"c":{"roots":[]}})");
}

TEST_F(LegacyInput, OfPromptsAndResources) {
  const auto answer = response("s1", R"({"content":{"name":"Zed"}})");
  const auto prompt = talk_legacy({request("1", "prompts/get", R"({"name":"p"})"), answer});
  EXPECT_THAT(json::serialize(prompt.at(1).at("result")), HasSubstr("Zed"));
  const auto resource = talk_legacy({request("1", "resources/read", R"({"uri":"x:y"})"), answer});
  EXPECT_THAT(json::serialize(resource.at(1).at("result")), HasSubstr("Zed"));
}

TEST_F(LegacyInput, ThatTheClientCannotGiveIsAnError) {
  const auto tool = talk_legacy({kCall}, "2025-11-25", R"({"sampling":{}})").at(0);
  EXPECT_TRUE(tool.at("result").at("isError").as_bool());
  EXPECT_THAT(text_of(tool), HasSubstr(R"({"elicitation":{"form":{}}})"));
  const auto prompt =
      talk_legacy({request("1", "prompts/get", R"({"name":"p"})")}, "2025-11-25", "{}").at(0);
  EXPECT_EQ(code_of(prompt), -32602);
}

TEST_F(LegacyInput, ThatTheClientRefusesIsAnError) {
  const auto received =
      talk_legacy({kCall, R"({"jsonrpc":"2.0","id":"s1","error":{"code":-1,"message":"busy"}})"});
  EXPECT_TRUE(received.at(1).at("result").at("isError").as_bool());
  EXPECT_EQ(text_of(received.at(1)), "The client answered elicitation/create with an error: busy");
  const auto odd = talk_legacy({kCall, R"({"jsonrpc":"2.0","id":"s1","result":7})"});
  EXPECT_THAT(text_of(odd.at(1)), HasSubstr("not well-formed"));
}

TEST_F(LegacyInput, IsNoLongerWantedWhenTheCallIsCancelled) {
  const auto received =
      talk_legacy({kCall, notification("notifications/cancelled", R"({"requestId":10})"),
                   response("s1", R"({"content":{"name":"Zed"}})")});
  ASSERT_THAT(received, SizeIs(2));
  EXPECT_EQ(received[1], json::parse(R"({"jsonrpc":"2.0","method":"notifications/cancelled",
      "params":{"requestId":"s1"}})"));
}

TEST_F(LegacyInput, FromNobodyIsIgnored) {
  const auto answer = response("s1", R"({"content":{"name":"Zed"}})");
  const auto received =
      talk_legacy({answer, R"({"jsonrpc":"2.0","id":1,"result":{}})", kCall, answer, answer});
  ASSERT_THAT(received, SizeIs(2));
  EXPECT_THAT(text_of(received[1]), HasSubstr("Zed"));
}

TEST_F(LegacyInput, IsNotAskedForEver) {
  add_asking("insists", [](json::object, Call& c) -> Task<ToolResult> {
    c.ask(InputRequired{{{"user", form("?")}}});
    co_return ToolResult{};
  });
  std::vector<Step> steps{request("1", "tools/call", R"({"name":"insists"})")};
  for (int i = 1; i <= 10; ++i) steps.emplace_back(response(fmt::format("s{}", i), "{}"));
  const auto received = talk_legacy(std::move(steps));
  ASSERT_THAT(received, SizeIs(11));
  EXPECT_TRUE(received[10].at("result").at("isError").as_bool());
}

class ImpatientInput : public LegacyInput {
 protected:
  ImpatientInput() : LegacyInput{ServerOptions{.answer_limit = milliseconds{0}}} {}
};

TEST_F(ImpatientInput, IsNotWaitedForEver) {
  const auto received = talk_legacy({kCall});
  ASSERT_THAT(received, SizeIs(3));
  EXPECT_EQ(received[1].at("method"), json::value("notifications/cancelled"));
  EXPECT_THAT(text_of(received[2]), HasSubstr("did not answer"));
}

}  // namespace
}  // namespace belljar::mcp
