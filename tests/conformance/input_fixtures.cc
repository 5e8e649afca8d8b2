#include "fixtures.h"

namespace belljar::mcp {

namespace {

constexpr const char* kNameSchema =
    R"({"type":"object","properties":{"name":{"type":"string"}},"required":["name"]})";
constexpr const char* kConfirmSchema =
    R"({"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]})";

constexpr const char* kDefaultsSchema = R"({"type":"object","properties":{
  "name":{"type":"string","default":"John Doe"},
  "age":{"type":"integer","default":30},
  "score":{"type":"number","default":95.5},
  "status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
  "verified":{"type":"boolean","default":true}}})";

constexpr const char* kEnumsSchema = R"({"type":"object","properties":{
  "untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
  "titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},
    {"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
  "legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],
    "enumNames":["Option One","Option Two","Option Three"]},
  "untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2"]}},
  "titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},
    {"const":"value2","title":"Second Choice"}]}}}})";

InputRequest form(std::string_view message, std::string_view schema) {
  InputRequest request{"elicitation/create"};
  request.params.emplace("mode", "form");
  request.params.emplace("message", message);
  request.params.emplace("requestedSchema", parse_object(schema));
  return request;
}

InputRequest sampling(std::string_view prompt) {
  InputRequest request{"sampling/createMessage"};
  json::array messages;
  messages.emplace_back(prompt_message("user", text_block(prompt)));
  request.params.emplace("messages", std::move(messages));
  request.params.emplace("maxTokens", 100);
  return request;
}

InputRequest roots() {
  return InputRequest{"roots/list"};
}

const json::object* answer(const Call& call, std::string_view name) {
  return find_object(call.input_responses(), name);
}

// What a person wrote into a field of a form; "" if there is none.
std::string field(const Call& call, std::string_view name, std::string_view key) {
  const json::object* given = answer(call, name);
  const json::object* content = given != nullptr ? find_object(*given, "content") : nullptr;
  return content != nullptr ? string_in(*content, key) : "";
}

ToolResult ask(Call& call, std::string name, InputRequest request, std::string state = "") {
  InputRequired input;
  input.requests.emplace(std::move(name), std::move(request));
  input.state = std::move(state);
  call.ask(std::move(input));
  return {};
}

Task<ToolResult> ask_for_sample(json::object arguments, Call& call) {
  const json::object* given = answer(call, "sample");
  if (given == nullptr) co_return ask(call, "sample", sampling(string_in(arguments, "prompt")));
  const json::object* content = find_object(*given, "content");
  co_return text_result("LLM response: " + (content != nullptr ? string_in(*content, "text") : ""));
}

// Tools that show what a person answered to one form.
Task<ToolResult> ask_by_form(std::string message, const char* schema, Call& call) {
  const json::object* given = answer(call, "form");
  if (given == nullptr) co_return ask(call, "form", form(message, schema));
  co_return text_result("User response: " + json::serialize(*given));
}

Task<ToolResult> elicitation(json::object arguments, Call& call) {
  return ask_by_form(string_in(arguments, "message"),
                     R"({"type":"object","properties":{"username":{"type":"string"},
                         "email":{"type":"string"}},"required":["username","email"]})",
                     call);
}

Task<ToolResult> elicitation_defaults(json::object, Call& call) {
  return ask_by_form("Please fill in", kDefaultsSchema, call);
}

Task<ToolResult> elicitation_enums(json::object, Call& call) {
  return ask_by_form("Please choose", kEnumsSchema, call);
}

Task<ToolResult> ask_for_name(json::object, Call& call) {
  const std::string name = field(call, "user_name", "name");
  if (name.empty()) co_return ask(call, "user_name", form("What is your name?", kNameSchema));
  co_return text_result("Hello, " + name + "!");
}

Task<ToolResult> ask_for_capital(json::object, Call& call) {
  const json::object* given = answer(call, "capital_question");
  if (given == nullptr) {
    co_return ask(call, "capital_question", sampling("What is the capital of France?"));
  }
  co_return text_result(json::serialize(*given));
}

Task<ToolResult> ask_for_roots(json::object, Call& call) {
  const json::object* given = answer(call, "client_roots");
  if (given == nullptr) co_return ask(call, "client_roots", roots());
  co_return text_result(json::serialize(*given));
}

Task<ToolResult> ask_with_state(json::object, Call& call) {
  if (answer(call, "confirm") == nullptr || call.request_state() != "state") {
    co_return ask(call, "confirm", form("Please confirm", kConfirmSchema), "state");
  }
  co_return text_result("state-ok");
}

Task<ToolResult> ask_for_everything(json::object, Call& call) {
  if (answer(call, "user_name") != nullptr && answer(call, "greeting") != nullptr &&
      answer(call, "client_roots") != nullptr) {
    co_return text_result(json::serialize(call.input_responses()));
  }
  InputRequired input;
  input.requests["user_name"] = form("What is your name?", kNameSchema);
  input.requests["greeting"] = sampling("Generate a greeting");
  input.requests["client_roots"] = roots();
  input.state = "everything";
  call.ask(std::move(input));
  co_return ToolResult{};
}

Task<ToolResult> ask_in_rounds(json::object, Call& call) {
  if (call.request_state() == "round 2" && answer(call, "step2") != nullptr) {
    co_return text_result("both steps done");
  }
  if (call.request_state() == "round 1" && answer(call, "step1") != nullptr) {
    co_return ask(call, "step2", form("Step 2: What is your favorite color?", kNameSchema),
                  "round 2");
  }
  co_return ask(call, "step1", form("Step 1: What is your name?", kNameSchema), "round 1");
}

// Asks for what this client can give, and for nothing else.
Task<ToolResult> ask_the_able(json::object, Call& call) {
  if (!call.input_responses().empty()) co_return text_result("answered");
  InputRequired input;
  input.requests["name"] = form("What is your name?", kNameSchema);
  if (!missing_capabilities(input, call.client_capabilities()).empty()) input.requests.clear();
  if (call.client_capabilities().contains("sampling")) input.requests["sample"] = sampling("Hi");
  if (input.requests.empty()) co_return text_result("nothing to ask");
  call.ask(std::move(input));
  co_return ToolResult{};
}

class AskingPrompt final : public Prompt {
 public:
  const PromptInfo& info() const override { return info_; }
  Task<PromptResult> get(json::object, Call& call) override {
    PromptResult result;
    const json::object* given = answer(call, "user_context");
    if (given == nullptr) {
      ask(call, "user_context", form("What is the context?", kNameSchema));
    } else {
      result.messages.emplace_back(prompt_message("user", text_block(json::serialize(*given))));
    }
    co_return result;
  }

 private:
  PromptInfo info_{"test_input_required_result_prompt", "", "For the conformance suite.", {}};
};

void add_asking(Server& server, std::string name, FunctionTool::Function function,
                std::string_view schema = "{}") {
  ToolInfo info = fixture(std::move(name), schema);
  info.asks = true;
  add_tool(server, std::move(info), std::move(function));
}

}  // namespace

void add_input_tools(Server& server) {
  add_asking(
      server, "test_sampling", ask_for_sample,
      R"({"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]})");
  add_asking(
      server, "test_elicitation", elicitation,
      R"({"type":"object","properties":{"message":{"type":"string"}},"required":["message"]})");
  add_asking(server, "test_elicitation_sep1034_defaults", elicitation_defaults);
  add_asking(server, "test_elicitation_sep1330_enums", elicitation_enums);
  add_asking(server, "test_missing_capability", ask_for_capital);
  add_asking(server, "test_streaming_elicitation", ask_for_name);
  add_asking(server, "test_input_required_result_elicitation", ask_for_name);
  add_asking(server, "test_input_required_result_sampling", ask_for_capital);
  add_asking(server, "test_input_required_result_list_roots", ask_for_roots);
  add_asking(server, "test_input_required_result_request_state", ask_with_state);
  add_asking(server, "test_input_required_result_multiple_inputs", ask_for_everything);
  add_asking(server, "test_input_required_result_multi_round", ask_in_rounds);
  add_asking(server, "test_input_required_result_tampered_state", ask_with_state);
  add_asking(server, "test_input_required_result_capabilities", ask_the_able);
  server.add(std::make_unique<AskingPrompt>());
}

}  // namespace belljar::mcp
