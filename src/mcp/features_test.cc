#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/testing.h"

// Prompts, resources, completion, lists in pages, and subscriptions.
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

const std::string kServer =
    R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"demo","version":"1.0.0"}})";

class TwoArguments final : public Prompt {
 public:
  const PromptInfo& info() const override { return info_; }
  Task<PromptResult> get(json::object arguments, Call&) override {
    const auto text = fmt::format("arg1='{}'", std::string{arguments["arg1"].as_string()});
    PromptResult result;
    result.messages.emplace_back(prompt_message("user", text_block(text)));
    co_return result;
  }

 private:
  PromptInfo info_{"p", "", "A prompt", {{"arg1", "", "", true}, {"arg2", "", "", true}}};
};

class Texts final : public ResourceSource {
 public:
  Task<std::vector<ResourceInfo>> list(Call&) override {
    std::vector<ResourceInfo> all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(ResourceInfo{fmt::format("test://{}", i), "text", "", "", "text/plain", 7});
    }
    co_return all;
  }
  std::vector<ResourceTemplateInfo> templates() const override {
    return {ResourceTemplateInfo{"test://template/{id}", "template", "", "", "application/json"}};
  }
  Task<std::optional<json::array>> read(std::string uri, Call&) override {
    if (uri == "test://broken") fail(Code::unavailable, "disk on fire");
    if (uri == "test://gone") fail(Code::not_found, "gone");
    if (uri != "test://0") co_return std::nullopt;
    json::array contents;
    contents.emplace_back(text_contents(uri, "text/plain", "content"));
    co_return contents;
  }
  void interest_changed() override { ++times_told; }

  static inline int times_told = 0;
};

class Cities final : public Completer {
 public:
  Task<std::optional<Completion>> complete(CompletionRequest request, Call&) override {
    if (request.argument == "none") co_return std::nullopt;
    Completion completion;
    if (request.argument == "many") {
      completion.values = std::vector<std::string>(150, "x");
    } else {
      completion.values = {request.value + "is", request.value + "k"};
    }
    co_return completion;
  }
};

class Features : public testing::Test {
 protected:
  Features() {
    add_tool(server, "echo", echo);
    server.add(std::make_unique<TwoArguments>());
    server.add(std::make_unique<Texts>());
    server.add(std::make_unique<Cities>());
  }
  Server server{demo(), ServerOptions{.page_size = 2}};
};

TEST_F(Features, AreAllAdvertised) {
  const auto answer = talk(server, {initialize("2025-11-25")}).at(0);
  EXPECT_EQ(answer.at("result").at("capabilities"),
            parsed(R"({"tools":{"listChanged":true},"logging":{},"prompts":{"listChanged":true},
                "resources":{"subscribe":true,"listChanged":true},"completions":{}})"));
}

TEST_F(Features, RefuseASecondToolOrPromptOfTheSameName) {
  EXPECT_THROW(add_tool(server, "echo", echo), Error);
  EXPECT_THROW(server.add(std::make_unique<TwoArguments>()), Error);
}

TEST_F(Features, HavePrompts) {
  EXPECT_EQ(talk(server, {request("1", "prompts/list")}).at(0),
            parsed(R"({"jsonrpc":"2.0","id":1,"result":{"prompts":[{"name":"p",
                "description":"A prompt","arguments":[{"name":"arg1","required":true},
                {"name":"arg2","required":true}]}]}})"));
  EXPECT_EQ(talk(server,
                 {modern("1", "prompts/get", R"("name":"p","arguments":{"arg1":"a","arg2":"b"})")})
                .at(0),
            parsed(R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","messages":
                [{"role":"user","content":{"type":"text","text":"arg1='a'"}}],)" +
                   kServer + "}}"));
  EXPECT_EQ(
      talk(server, {modern("2", "prompts/get", R"("name":"p","arguments":{"arg1":"a"})")}).at(0),
      parsed(R"({"jsonrpc":"2.0","id":2,"error":
                {"code":-32602,"message":"Missing required argument: arg2"}})"));
  for (const char* params : {"{}", R"({"name":"q"})", R"({"name":"p","arguments":7})",
                             R"({"name":"p","arguments":{"arg1":1,"arg2":"b"}})"}) {
    EXPECT_EQ(code_of(talk(server, {request("1", "prompts/get", params)}).at(0)), -32602);
  }
}

TEST_F(Features, HaveResourcesToRead) {
  EXPECT_EQ(talk(server, {modern("5", "resources/read", R"("uri":"test://0")")}).at(0),
            parsed(R"({"jsonrpc":"2.0","id":5,"result":{"resultType":"complete","contents":
                [{"uri":"test://0","mimeType":"text/plain","text":"content"}],
                "ttlMs":0,"cacheScope":"private",)" +
                   kServer + "}}"));
  EXPECT_EQ(talk(server, {modern("6", "resources/read", R"("uri":"test://none")")}).at(0),
            parsed(R"({"jsonrpc":"2.0","id":6,"error":{"code":-32602,
                "message":"Resource not found","data":{"uri":"test://none"}}})"));
  EXPECT_EQ(talk(server, {request("11", "resources/read", R"({"uri":"test://gone"})")}).at(0),
            parsed(R"({"jsonrpc":"2.0","id":11,"error":{"code":-32002,
                "message":"Resource not found","data":{"uri":"test://gone"}}})"));
  EXPECT_EQ(talk(server, {request("1", "resources/read", R"({"uri":"test://broken"})")}).at(0),
            parsed(R"({"jsonrpc":"2.0","id":1,"error":
                {"code":-32603,"message":"disk on fire"}})"));
  EXPECT_EQ(code_of(talk(server, {request("1", "resources/read")}).at(0)), -32602);
}

TEST_F(Features, HaveResourceTemplates) {
  EXPECT_EQ(talk(server, {modern("4", "resources/templates/list")}).at(0),
            parsed(R"({"jsonrpc":"2.0","id":4,"result":{"resultType":"complete",
                "resourceTemplates":[{"uriTemplate":"test://template/{id}","name":"template",
                "mimeType":"application/json"}],"ttlMs":300000,"cacheScope":"public",)" +
                   kServer + "}}"));
}

TEST_F(Features, ComeInPages) {
  std::string cursor;
  std::string uris;
  for (int page = 0; page < 3; ++page) {
    const auto line = modern("1", "resources/list", cursor);
    const auto result = talk(server, {line}).at(0).at("result").as_object();
    for (const auto& resource : result.at("resources").as_array()) {
      uris += std::string{resource.at("uri").as_string()} + " ";
    }
    EXPECT_EQ(result.at("cacheScope"), json::value("private"));
    const json::string* next = find_string(result, "nextCursor");
    EXPECT_EQ(next != nullptr, page < 2);
    if (next != nullptr) cursor = fmt::format(R"("cursor":"{}")", std::string_view{*next});
  }
  EXPECT_EQ(uris, "test://0 test://1 test://2 test://3 test://4 ");
}

TEST_F(Features, RefuseCursorsThatAreNotTheirOwn) {
  for (const char* cursor :
       {R"("")", R"("x")", R"("resources:")", R"("resources:5")", R"("resources:-1")", "7", "null",
        R"("resources:2x")", R"("tools:1")", R"("resources:99999999999999999999999")"}) {
    const auto line = request("8", "resources/list", fmt::format(R"({{"cursor":{}}})", cursor));
    EXPECT_EQ(talk(server, {line}).at(0), parsed(R"({"jsonrpc":"2.0","id":8,"error":
        {"code":-32602,"message":"Invalid cursor"}})"))
        << cursor;
  }
}

std::string completion(std::string_view argument, std::string_view prompt = "p") {
  return modern("7", "completion/complete",
                fmt::format(R"("ref":{{"type":"ref/prompt","name":"{}"}},)"
                            R"("argument":{{"name":"{}","value":"par"}})",
                            prompt, argument));
}

TEST_F(Features, CompleteArguments) {
  EXPECT_EQ(talk(server, {completion("arg1")}).at(0),
            parsed(R"({"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","completion":
                {"values":["paris","park"],"total":2,"hasMore":false},)" +
                   kServer + "}}"));
  const auto many = talk(server, {completion("many")}).at(0).at("result").at("completion");
  EXPECT_THAT(many.at("values").as_array(), SizeIs(100));
  EXPECT_EQ(many.at("hasMore"), json::value(true));
  const auto none = talk(server, {completion("none")}).at(0).at("result").at("completion");
  EXPECT_THAT(none.at("values").as_array(), IsEmpty());
  EXPECT_EQ(code_of(talk(server, {completion("arg1", "q")}).at(0)), -32602);
  EXPECT_EQ(code_of(talk(server, {modern("7", "completion/complete")}).at(0)), -32602);
}

void change_all(Server& server, Connection&) {
  server.announce_tools_changed();
  server.announce_prompts_changed();
  server.announce_resources_changed();
  server.announce_resource_updated("test://w");
  server.announce_resource_updated("test://other");
}

TEST_F(Features, TellALegacyClientOfTheResourcesItWatches) {
  const std::string uri = R"({"uri":"test://w"})";
  const auto messages =
      talk(server, {initialize("2025-11-25"), notification("notifications/initialized"),
                    request("7", "resources/subscribe", uri), change_all,
                    request("8", "resources/unsubscribe", uri),
                    [](Server& s, Connection&) { s.announce_resource_updated("test://w"); }});
  ASSERT_THAT(messages, SizeIs(7));
  EXPECT_EQ(messages[1], parsed(R"({"jsonrpc":"2.0","id":7,"result":{}})"));
  EXPECT_EQ(messages[5], parsed(R"({"jsonrpc":"2.0","method":"notifications/resources/updated",
      "params":{"uri":"test://w"}})"));
}

// What the server knows its clients to be interested in, e.g. "list test://w", at this step.
Step note_interest(std::vector<std::string>& notes) {
  return [&notes](Server& server, Connection&) {
    const ResourceInterest interest = server.resource_interest();
    std::string note = interest.list ? "list" : "";
    for (const std::string& uri : interest.uris) note += " " + uri;
    notes.push_back(note);
  };
}

std::string listen(std::string_view id, std::string_view wanted) {
  return modern(id, "subscriptions/listen", fmt::format(R"("notifications":{})", wanted));
}

void end(Server&, Connection& connection) {
  connection.end_subscriptions();
}

TEST_F(Features, LearnWhichChangesClientsAreInterestedIn) {
  const std::string uri = R"({"uri":"test://w"})";
  const auto wanted = R"({"resourcesListChanged":true,"resourceSubscriptions":["test://m"]})";
  std::vector<std::string> notes;
  Texts::times_told = 0;
  const Step note = note_interest(notes);
  talk(server, {request("1", "resources/read", uri), modern("2", "resources/list"), note,
                request("3", "resources/subscribe", uri), note, listen("4", wanted), note,
                request("5", "resources/unsubscribe", uri), note,
                notification("notifications/cancelled", R"({"requestId":4})"), note,
                request("6", "resources/list"), note});
  EXPECT_THAT(notes,
              ElementsAre("", " test://w", "list test://m test://w", "list test://m", "", "list"));
  EXPECT_EQ(Texts::times_told, 6);  // the last time when the client went
  EXPECT_TRUE(server.resource_interest().empty());
}

TEST_F(Features, TellAModernClientWhatItListensTo) {
  const auto wanted = R"({"toolsListChanged":true,"resourcesListChanged":false,
      "resourceSubscriptions":["test://w"],"unknown":true})";
  const auto id = R"({"io.modelcontextprotocol/subscriptionId":"sub1"})";
  EXPECT_THAT(
      talk(server, {listen("\"sub1\"", wanted), change_all, end, change_all}),
      ElementsAre(
          parsed(fmt::format(R"({{"jsonrpc":"2.0",
              "method":"notifications/subscriptions/acknowledged","params":{{"_meta":{},
              "notifications":{{"toolsListChanged":true,"resourceSubscriptions":["test://w"]}}}}}})",
                             id)),
          parsed(fmt::format(R"({{"jsonrpc":"2.0","method":"notifications/tools/list_changed",
              "params":{{"_meta":{}}}}})",
                             id)),
          parsed(fmt::format(R"({{"jsonrpc":"2.0","method":"notifications/resources/updated",
              "params":{{"_meta":{},"uri":"test://w"}}}})",
                             id)),
          parsed(R"({"jsonrpc":"2.0","id":"sub1","result":{"resultType":"complete","_meta":
              {"io.modelcontextprotocol/subscriptionId":"sub1",
               "io.modelcontextprotocol/serverInfo":{"name":"demo","version":"1.0.0"}}}})")));
}

TEST_F(Features, EndASubscriptionSilentlyWhenItIsCancelled) {
  const auto wanted = R"({"toolsListChanged":true})";
  EXPECT_THAT(talk(server, {listen("3", wanted), listen("3", wanted),
                            notification("notifications/cancelled", R"({"requestId":3})"),
                            change_all, end}),
              SizeIs(2));  // the acknowledgement, and the refusal of the second one
}

TEST_F(Features, EndASubscriptionToNothingAtOnce) {
  const auto messages = talk(server, {listen("0", "{}")});
  ASSERT_THAT(messages, SizeIs(2));
  EXPECT_THAT(messages[0].at("params").at("notifications").as_object(), IsEmpty());
  EXPECT_EQ(messages[1].at("id"), json::value(0));
}

TEST_F(Features, RefuseSubscriptionsOfTheWrongForm) {
  EXPECT_EQ(code_of(talk(server, {modern("1", "subscriptions/listen")}).at(0)), -32602);
  for (const char* wanted :
       {"[]", R"({"resourceSubscriptions":"x"})", R"({"resourceSubscriptions":[1]})"}) {
    EXPECT_EQ(code_of(talk(server, {listen("1", wanted)}).at(0)), -32602) << wanted;
  }
  Server empty{demo()};
  EXPECT_EQ(code_of(talk(empty, {listen("1", "{}")}).at(0)), -32601);
}

TEST_F(Features, GiveAModernRequestItsOwnStream) {
  std::vector<std::string> own;
  const auto step = [&own](Server&, Connection& connection) {
    connection.handle(parse_message(listen("1", R"({"toolsListChanged":true})")),
                      [&own](const Outgoing& outgoing) { own.push_back(outgoing.text); });
  };
  EXPECT_THAT(talk(server, {step, change_all, end}), IsEmpty());
  EXPECT_THAT(own, SizeIs(3));
}

}  // namespace
}  // namespace belljar::mcp
