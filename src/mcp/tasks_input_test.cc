#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mcp/tasks_testing.h"

// Tasks that ask the client.
namespace belljar::mcp {
namespace {

using std::chrono::hours;
using testing::HasSubstr;

InputRequired question(std::string_view name) {
  return {{{std::string{name}, {"elicitation/create", json::object{{"message", "?"}}}}}};
}

// Asks twice under the same name, and then says what it was told.
Task<ToolResult> ask_twice(json::object, Call& c) {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  const std::string told = c.request_state() + json::serialize(c.input_responses());
  if (std::ranges::count(told, '}') < 6) {
    InputRequired input = question("q");
    input.state = told;
    c.ask(std::move(input));
    co_return ToolResult{};
  }
  ToolResult result;
  result.content.emplace_back(text_block(told));
  co_return result;
}

Task<> asks(Bench& bench) {
  bench.add("asks", TaskSupport::optional, ask_twice);
  const std::string id = co_await bench.begin("asks");
  const json::value first = co_await bench.look(id);
  EXPECT_EQ(status_of(first), "input_required");
  EXPECT_EQ(first.at("inputRequests"), json::parse(R"({"q":{"method":"elicitation/create",
      "params":{"message":"?"}}})"));
  EXPECT_FALSE(first.as_object().contains("requestState"));
  co_await bench.look(id, "tasks/update", R"({"other":{},"q":7})");
  EXPECT_EQ(status_of(co_await bench.look(id)), "input_required");
  co_await bench.look(id, "tasks/update", R"({"q":{"n":{"m":1}}})");
  const json::value second = co_await bench.look(id);
  EXPECT_EQ(status_of(second), "input_required");
  EXPECT_TRUE(second.at("inputRequests").as_object().contains("q-2")) << second;
  co_await bench.look(id, "tasks/update", R"({"q":{"n":1}})");  // has been answered
  co_await bench.look(id, "tasks/update", R"({"q-2":{"n":2}})");
  const json::value done = co_await bench.look(id);
  EXPECT_EQ(status_of(done), "completed");
  EXPECT_EQ(done.at("result").at("content").at(0).at("text"),
            json::value(R"({}{"q":{"n":{"m":1}}}{"q":{"n":2}})"));
  const json::value bad = co_await bench.look(id, "tasks/update", "7");
  EXPECT_EQ(bad.at("code"), json::value(-32602));
}

TEST(Tasks, AskWithTheirStatus) {
  in_scene(asks);
}

Task<ToolResult> ask_two(json::object, Call& c) {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  ToolResult result;
  if (c.input_responses().empty()) {
    InputRequired input = question("a");
    input.requests.merge(question("b").requests);
    c.ask(std::move(input));
  } else {
    result.content.emplace_back(text_block(json::serialize(c.input_responses())));
  }
  co_return result;
}

Task<> takes_partial_answers(Bench& bench) {
  bench.add("asks", TaskSupport::optional, ask_two);
  const std::string id = co_await bench.begin("asks");
  co_await bench.look(id, "tasks/update", R"({"b":{"n":2}})");
  const json::value half = co_await bench.look(id);
  EXPECT_EQ(status_of(half), "input_required");
  EXPECT_EQ(half.at("inputRequests").as_object().size(), 1U);
  co_await bench.look(id, "tasks/update", R"({"a":{"n":1},"b":{"n":3}})");
  const json::value done = co_await bench.look(id);
  EXPECT_THAT(json::serialize(done), HasSubstr(R"({\"b\":{\"n\":2},\"a\":{\"n\":1}})"));
}

TEST(Tasks, TakePartialAnswers) {
  in_scene(takes_partial_answers);
}

Task<> does_not_wait_for_ever(Bench& bench) {
  bench.add("asks", TaskSupport::optional, ask_two);
  const std::string id = co_await bench.begin("asks");
  bench.clock.advance(hours{1});
  co_await let_run();
  EXPECT_EQ(bench.tasks.size(), 0U);
  const std::string other = co_await bench.begin("asks");
  co_await bench.look(other, "tasks/cancel");
  EXPECT_EQ(status_of(co_await bench.look(other)), "cancelled");
}

TEST(Tasks, DoNotWaitForAnswersForEver) {
  in_scene(does_not_wait_for_ever);
}

Task<ToolResult> ask_for_sampling(json::object, Call& c) {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  c.ask(InputRequired{{{"q", {"sampling/createMessage", {}}}}});
  co_return ToolResult{};
}

Task<> fails_by_protocol(Bench& bench) {
  bench.add("asks", TaskSupport::optional, ask_for_sampling);
  const json::value task = co_await bench.look(co_await bench.begin("asks"));
  EXPECT_EQ(status_of(task), "failed");
  EXPECT_EQ(task.at("error").at("code"), json::value(-32021));
  EXPECT_FALSE(task.as_object().contains("result"));
}

TEST(Tasks, ThatCannotAskHaveFailed) {
  in_scene(fails_by_protocol);
}

Task<ToolResult> ask_first(json::object, Call& c) {
  if (c.input_responses().empty()) {
    c.ask(question("user"));
    co_return ToolResult{};
  }
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  ToolResult result;
  result.content.emplace_back(text_block(json::serialize(c.input_responses())));
  co_return result;
}

Task<> asks_before(Bench& bench) {
  bench.add("asks", TaskSupport::required, ask_first);
  const json::value asked = co_await bench.say(call("asks"));
  EXPECT_EQ(asked.at("result").at("resultType"), json::value("input_required"));
  EXPECT_EQ(bench.tasks.size(), 0U);
  const json::value made = co_await bench.say(
      ask_for("tools/call", R"("name":"asks","inputResponses":{"user":{"n":1}})"));
  EXPECT_EQ(made.at("result").at("resultType"), json::value("task"));
  const json::value done =
      co_await bench.look(std::string{made.at("result").at("taskId").as_string()});
  EXPECT_THAT(json::serialize(done), HasSubstr(R"({\"user\":{\"n\":1}})"));
}

TEST(Tasks, AreMadeAfterTheFirstQuestions) {
  in_scene(asks_before);
}

}  // namespace
}  // namespace belljar::mcp
