#pragma once

#include "mcp/testing.h"

// A server with one feature of each kind, and three tools: one that talks, one that asks and one
// that never ends, as a task where there are any.
namespace belljar::mcp {

class Greeting final : public Prompt {
 public:
  Greeting() : info_{"greet", "", "", {PromptArgument{"who", "", "", true}}} {}
  const PromptInfo& info() const override { return info_; }
  Task<PromptResult> get(json::object arguments, Call&) override {
    PromptResult result;
    result.messages.emplace_back(
        prompt_message("user", text_block(arguments.at("who").as_string())));
    co_return result;
  }

 private:
  PromptInfo info_;
};

class Notes final : public ResourceSource {
 public:
  Task<std::vector<ResourceInfo>> list(Call&) override {
    co_return std::vector<ResourceInfo>{{"note:a", "a", "", "", "", 1},
                                        {"note:b", "b", "", "", "", 2}};
  }
  std::vector<ResourceTemplateInfo> templates() const override {
    return {{"note:{name}", "note", "", "", ""}};
  }
  Task<std::optional<json::array>> read(std::string uri, Call&) override {
    if (!uri.starts_with("note:")) co_return std::nullopt;
    json::array contents;
    contents.emplace_back(text_contents(uri, "text/plain", uri));
    co_return contents;
  }
};

class Names final : public Completer {
 public:
  Task<std::optional<Completion>> complete(CompletionRequest request, Call&) override {
    co_return Completion{{request.value + "a", request.value + "b"}, 2};
  }
};

inline Task<ToolResult> talkative(json::object arguments, Call& call) {
  call.progress("half", 2);
  call.log(LogLevel::warning, "fuzz", json::value(arguments));
  if (arguments.contains("fail")) fail(Code::denied, "{}", json::serialize(arguments));
  co_return co_await echo(std::move(arguments), call);
}

// Asks once, and then says what it was told.
inline Task<ToolResult> curious(json::object arguments, Call& call) {
  if (call.request_state() == "asked") {
    arguments["told"] = call.input_responses();
  } else {
    InputRequired input;
    input.requests["q"] = InputRequest{"elicitation/create", json::object{{"message", "?"}}};
    input.requests["r"] = InputRequest{"roots/list"};
    input.state = "asked";
    call.ask(std::move(input));
  }
  co_return co_await echo(std::move(arguments), call);
}

inline Server& server() {
  static Server one{demo(), ServerOptions{.page_size = 1, .max_in_flight = 8}};
  if (!one.tools().empty()) return one;
  add_tool(one, "talk", talkative);
  ToolInfo ask;
  ask.name = "ask";
  ask.asks = true;
  add_tool(one, std::move(ask), curious);
  ToolInfo wait;
  wait.name = "wait";
  wait.tasks = TaskSupport::optional;
  add_tool(one, std::move(wait), wait_forever);
  one.add(std::make_unique<Greeting>());
  one.add(std::make_unique<Notes>());
  one.add(std::make_unique<Names>());
  return one;
}

}  // namespace belljar::mcp
