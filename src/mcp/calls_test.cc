#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/active_call.h"
#include "mcp/testing.h"

// What may happen while a tool runs: failure, cancellation, progress, log messages.
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

std::string call(std::string_view id, std::string_view name, std::string_view meta = "{}") {
  return request(id, "tools/call", fmt::format(R"({{"name":"{}","_meta":{}}})", name, meta));
}

std::string cancel(std::string_view id) {
  return notification("notifications/cancelled", fmt::format(R"({{"requestId":{}}})", id));
}

class Calls : public testing::Test {
 protected:
  Server server{demo()};
};

TEST_F(Calls, RefuseParametersOfTheWrongType) {
  add_tool(server, "echo", echo);
  for (const char* params : {"{}", R"({"name":7})", R"({"name":"echo","arguments":[1]})",
                             R"({"name":"echo","arguments":"x"})"}) {
    EXPECT_EQ(code_of(talk(server, {request("1", "tools/call", params)}).at(0)), -32602) << params;
  }
}

Task<ToolResult> fail_politely(json::object, Call&) {
  fail(Code::not_found, "no sandbox {}", "x");
  co_return ToolResult{};
}

Task<ToolResult> fail_badly(json::object, Call&) {
  throw std::logic_error{"oops"};
  co_return ToolResult{};
}

TEST_F(Calls, TurnExceptionsIntoResults) {
  add_tool(server, "polite", fail_politely);
  add_tool(server, "bad", fail_badly);
  EXPECT_THAT(talk(server, {call("1", "polite"), call("2", "bad")}),
              ElementsAre(parsed(R"({"jsonrpc":"2.0","id":1,"result":
                      {"content":[{"type":"text","text":"no sandbox x"}],"isError":true}})"),
                          parsed(R"({"jsonrpc":"2.0","id":2,"result":
                      {"content":[{"type":"text","text":"internal error: oops"}],"isError":true}})")));
}

TEST_F(Calls, RunConcurrently) {
  add_tool(server, "wait", wait_forever);
  add_tool(server, "echo", echo);
  EXPECT_THAT(talk(server, {call("1", "wait"), call("2", "echo")}), SizeIs(1));
}

// Notes how the task ended.
struct Witness {
  bool started = false;
  bool cancelled = false;
  Task<ToolResult> call(json::object, Call& call) {
    started = true;
    try {
      co_await sleep_for(std::chrono::hours{1});
    } catch (const boost::system::system_error&) {
      cancelled = true;
      call.progress("too late");
      call.log(LogLevel::emergency, "", "too late");
    }
    co_return ToolResult{};
  }
  FunctionTool::Function function() {
    return [this](json::object arguments, Call& c) { return call(std::move(arguments), c); };
  }
};

TEST_F(Calls, EndSilentlyWhenCancelled) {
  Witness witness;
  add_tool(server, "witness", witness.function());
  const auto answers = talk(server, {call("\"a\"", "witness", R"({"progressToken":1})"),
                                     cancel("\"a\""), request("2", "ping")});
  EXPECT_TRUE(witness.cancelled);
  EXPECT_THAT(answers, ElementsAre(parsed(R"({"jsonrpc":"2.0","id":2,"result":{}})")));
}

TEST_F(Calls, AreCancelledByTheSameIdOnly) {
  Witness witness;
  add_tool(server, "witness", witness.function());
  bool cancelled = true;
  const auto look = [&](Server&, Connection&) { cancelled = witness.cancelled; };
  talk(server, {call("1", "witness"), cancel("\"1\""), cancel("2"), cancel("null"),
                notification("notifications/cancelled"), look});
  EXPECT_FALSE(cancelled);
}

TEST_F(Calls, CanBeCancelledAsSoonAsTheyAreSent) {
  Witness witness;
  add_tool(server, "witness", witness.function());
  const auto both = [](Server&, Connection& connection) {
    connection.handle(call("1", "witness"));
    connection.handle(cancel("1"));
  };
  bool done = false;
  const auto look = [&](Server&, Connection&) { done = witness.cancelled || !witness.started; };
  EXPECT_THAT(talk(server, {both, look}), IsEmpty());
  EXPECT_TRUE(done);
}

TEST_F(Calls, GiveTheirIdFreeWhenCancelledOrAnswered) {
  add_tool(server, "wait", wait_forever);
  add_tool(server, "echo", echo);
  const auto answers =
      talk(server, {call("1", "wait"), cancel("1"), call("1", "echo"), call("1", "echo")});
  ASSERT_THAT(answers, SizeIs(2));
  for (const json::value& answer : answers) EXPECT_TRUE(answer.as_object().contains("result"));
}

TEST_F(Calls, KeepTheirIdWhileTheyRun) {
  add_tool(server, "wait", wait_forever);
  size_t running = 0;
  const auto count = [&](Server&, Connection& connection) { running = connection.in_flight(); };
  const auto answers =
      talk(server, {call("1", "wait"), call("1", "wait"), request("1", "ping"), count});
  ASSERT_THAT(answers, SizeIs(2));
  EXPECT_EQ(code_of(answers[0]), -32600);
  EXPECT_EQ(answers[0].at("id"), json::value(1));
  EXPECT_EQ(running, 1u);
}

TEST_F(Calls, AreCancelledWithoutAnswerWhenTheConnectionStops) {
  Witness witness;
  add_tool(server, "witness", witness.function());
  EXPECT_THAT(talk(server, {call("1", "witness", R"({"progressToken":1})")}), IsEmpty());
  EXPECT_TRUE(witness.cancelled);
}

TEST_F(Calls, AreLimitedInNumber) {
  ServerOptions options;
  options.max_in_flight = 2;
  Server small{demo(), options};
  add_tool(small, "wait", wait_forever);
  const auto answers = talk(small, {call("1", "wait"), call("2", "wait"), call("3", "wait"),
                                    cancel("1"), call("4", "wait")});
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(code_of(answers[0]), -32603);
}

Task<ToolResult> report_often(json::object, Call& call) {
  for (int i = 1; i <= 1000; ++i) call.progress(fmt::format("step {}", i), 1000);
  co_return ToolResult{};
}

TEST_F(Calls, ReportProgressThatGrowsAndDoesNotLoseTheLast) {
  add_tool(server, "report", report_often);
  const auto messages = talk(server, {call("1", "report", R"({"progressToken":0})")});
  ASSERT_GE(messages.size(), 3u);
  EXPECT_TRUE(messages.back().as_object().contains("result"));
  int64_t last = 0;
  for (size_t i = 0; i + 1 < messages.size(); ++i) {
    const json::object& params = messages[i].at("params").as_object();
    EXPECT_EQ(params.at("progressToken"), json::value(0));
    EXPECT_EQ(params.at("total"), json::value(1000));
    EXPECT_GT(params.at("progress").as_int64(), last);
    last = params.at("progress").as_int64();
    EXPECT_EQ(params.at("message"), json::value(fmt::format("step {}", last)));
  }
  EXPECT_EQ(last, 1000);
}

TEST_F(Calls, ReportNoProgressToWhoDidNotAsk) {
  add_tool(server, "report", report_often);
  EXPECT_THAT(talk(server, {call("1", "report"), call("2", "report", R"({"progressToken":null})")}),
              SizeIs(2));
}

Task<ToolResult> log_all(json::object, Call& call) {
  for (const auto level : {LogLevel::debug, LogLevel::info, LogLevel::warning, LogLevel::error}) {
    call.log(level, "", 1);
  }
  co_return ToolResult{};
}

size_t logged(const std::vector<json::value>& messages) {
  return static_cast<size_t>(std::ranges::count_if(messages, [](const json::value& message) {
    const json::string* method = find_string(message.as_object(), "method");
    return method != nullptr && *method == "notifications/message";
  }));
}

TEST_F(Calls, LogToALegacyClientFromTheLevelItSet) {
  add_tool(server, "log", log_all);
  const auto level = [](std::string_view name) {
    return request("9", "logging/setLevel", fmt::format(R"({{"level":"{}"}})", name));
  };
  EXPECT_EQ(logged(talk(server, {call("1", "log")})), 2u);
  EXPECT_EQ(logged(talk(server, {level("debug"), call("1", "log")})), 4u);
  EXPECT_EQ(logged(talk(server, {level("error"), call("1", "log")})), 1u);
}

TEST_F(Calls, LogToAModernClientOnlyIfTheRequestAsks) {
  add_tool(server, "log", log_all);
  const auto level = request("9", "logging/setLevel", R"({"level":"debug"})");
  const auto plain = modern("1", "tools/call", R"("name":"log")");
  const auto asking =
      modern("1", "tools/call", R"("name":"log")", R"("io.modelcontextprotocol/logLevel":"info")");
  EXPECT_EQ(logged(talk(server, {level, plain})), 0u);
  EXPECT_EQ(logged(talk(server, {asking})), 3u);
}

TEST(RateLimit, LetsABurstThroughAndThenTenPerSecond) {
  RateLimit limit;
  RateLimit::Time now{};
  const auto taken = [&](int tries, milliseconds step) {
    int count = 0;
    for (int i = 0; i < tries; ++i) {
      if (limit.take(now)) ++count;
      now += step;
    }
    return count;
  };
  EXPECT_EQ(taken(100, milliseconds{0}), 10);
  EXPECT_NEAR(taken(1000, milliseconds{1}), 10, 1);
  EXPECT_EQ(taken(10, milliseconds{200}), 10);
}

}  // namespace
}  // namespace belljar::mcp
