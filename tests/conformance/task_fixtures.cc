#include "fixtures.h"

namespace belljar::mcp {

namespace {

constexpr const char* kConfirmSchema =
    R"({"type":"object","properties":{"confirm":{"type":"boolean"}},"required":["confirm"]})";

InputRequest confirm(std::string_view message) {
  InputRequest request{"elicitation/create"};
  request.params.emplace("mode", "form");
  request.params.emplace("message", message);
  request.params.emplace("requestedSchema", parse_object(kConfirmSchema));
  return request;
}

// Long enough for the call to have become a task.
Task<> take_a_moment() {
  co_await sleep_for(milliseconds{20});
}

Task<ToolResult> greet(json::object arguments, Call&) {
  co_return text_result("Hello, " + string_in(arguments, "name") + "!");
}

Task<ToolResult> slow_compute(json::object arguments, Call&) {
  const json::value* seconds = find(arguments, "seconds");
  if (seconds != nullptr && seconds->is_number()) {
    const std::chrono::duration<double> time{seconds->to_number<double>()};
    co_await sleep_for(std::chrono::duration_cast<milliseconds>(time));
  }
  co_return text_result("computed " + string_in(arguments, "label"));
}

Task<ToolResult> failing_job(json::object, Call&) {
  co_await sleep_for(std::chrono::seconds{1});
  fail(Code::unavailable, "this job always fails");
}

// The only errors of the protocol that a tool can cause: a question that no client can be asked.
Task<ToolResult> protocol_error_job(json::object, Call& call) {
  co_await take_a_moment();
  InputRequired input;
  input.requests["impossible"] = InputRequest{"no/such/request"};
  call.ask(std::move(input));
  co_return ToolResult{};
}

Task<ToolResult> confirm_delete(json::object arguments, Call& call) {
  co_await take_a_moment();
  if (find_object(call.input_responses(), "confirm") != nullptr) co_return text_result("deleted");
  InputRequired input;
  input.requests["confirm"] = confirm("Delete " + string_in(arguments, "filename") + "?");
  call.ask(std::move(input));
  co_return ToolResult{};
}

Task<ToolResult> multi_input(json::object, Call& call) {
  co_await take_a_moment();
  if (!call.input_responses().empty()) {
    co_return text_result(json::serialize(call.input_responses()));
  }
  InputRequired input;
  input.requests["first"] = confirm("First?");
  input.requests["second"] = confirm("Second?");
  call.ask(std::move(input));
  co_return ToolResult{};
}

// Asks as a request, and works as a task.
Task<ToolResult> ask_then_work(json::object, Call& call) {
  const json::object* given = find_object(call.input_responses(), "user_name");
  if (given == nullptr) {
    InputRequired input;
    input.requests["user_name"] = confirm("What is your name?");
    input.requests["user_name"].params["requestedSchema"] = parse_object(
        R"({"type":"object","properties":{"name":{"type":"string"}},"required":["name"]})");
    call.ask(std::move(input));
    co_return ToolResult{};
  }
  const std::string text = json::serialize(*given);
  co_await take_a_moment();
  co_return text_result(text);
}

void add(Server& server, std::string name, TaskSupport support, FunctionTool::Function function,
         std::string_view schema = "{}") {
  ToolInfo info = fixture(std::move(name), schema);
  info.tasks = support;
  info.asks = support != TaskSupport::none;
  add_tool(server, std::move(info), std::move(function));
}

}  // namespace

void add_task_tools(Server& server) {
  add(server, "greet", TaskSupport::none, greet,
      R"({"type":"object","properties":{"name":{"type":"string"}}})");
  add(server, "slow_compute", TaskSupport::optional, slow_compute,
      R"({"type":"object","properties":{"seconds":{"type":"number"},"label":{"type":"string"}}})");
  add(server, "failing_job", TaskSupport::required, failing_job);
  add(server, "protocol_error_job", TaskSupport::optional, protocol_error_job);
  add(server, "confirm_delete", TaskSupport::optional, confirm_delete,
      R"({"type":"object","properties":{"filename":{"type":"string"}}})");
  add(server, "multi_input", TaskSupport::optional, multi_input);
  add(server, "test_tool_with_task", TaskSupport::required, ask_then_work);
}

}  // namespace belljar::mcp
