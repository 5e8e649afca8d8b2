#include "mcp/call_tasks.h"

#include <gtest/gtest.h>

#include "mcp/tasks_testing.h"

// The tasks extension as a client sees it.
namespace belljar::mcp {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

Task<> lives_without_its_connection(Bench& bench) {
  const json::value made = co_await bench.say(call("optional"));
  const json::object& result = made.at("result").as_object();
  EXPECT_EQ(result.at("resultType"), json::value("task"));
  EXPECT_EQ(result.at("status"), json::value("working"));
  EXPECT_EQ(result.at("ttlMs"), json::value(3'600'000));
  EXPECT_EQ(result.at("pollIntervalMs"), json::value(1000));
  EXPECT_EQ(result.at("createdAt"), json::value("1970-01-01T00:00:00.000Z"));
  EXPECT_FALSE(result.contains("result"));
  const std::string id{result.at("taskId").as_string()};
  EXPECT_EQ(status_of(co_await bench.look(id)), "working");
  EXPECT_EQ(bench.running, 1);
  bench.clock.advance(seconds{90});
  bench.go.set();
  co_await let_run();
  const json::value done = co_await bench.look(id);
  EXPECT_EQ(status_of(done), "completed");
  EXPECT_EQ(done.at("resultType"), json::value("complete"));
  EXPECT_EQ(done.at("result"), json::parse(R"({"content":[{"type":"text","text":"{\"a\":1}"}]})"));
  EXPECT_EQ(done.at("lastUpdatedAt"), json::value("1970-01-01T00:01:30.000Z"));
}

TEST(Tasks, LiveWithoutTheConnectionThatMadeThem) {
  in_scene(lives_without_its_connection);
}

Task<> answers_soon(Bench& bench) {
  bench.go.set();
  const json::value answer = co_await bench.say(call("required"));
  EXPECT_EQ(answer.at("result").at("resultType"), json::value("complete"));
  EXPECT_EQ(bench.tasks.size(), 0U);
}

TEST(Tasks, AreNotMadeOfCallsThatEndSoon) {
  in_scene(answers_soon);
}

Task<> waits_a_moment(Bench& bench) {
  std::vector<json::value> received;
  const auto collect = [&received](const Outgoing& outgoing) {
    received.push_back(json::parse(outgoing.text));
  };
  Connection connection{co_await asio::this_coro::executor, bench.server, "", collect};
  connection.handle(call("optional"));
  co_await let_run();
  EXPECT_EQ(received.size(), 1U);  // progress, as with any request
  bench.clock.advance(seconds{5});
  co_await let_run();
  EXPECT_EQ(received.size(), 2U);
  EXPECT_EQ(received.back().at("result").at("resultType"), json::value("task"));
  connection.handle(ask_for("tools/call", R"("name":"optional")", kKnowsTasks, "2"));
  co_await let_run();
  bench.clock.advance(seconds{4});
  bench.go.set();
  co_await let_run();
  EXPECT_EQ(received.back().at("id"), json::value(2));
  EXPECT_EQ(received.back().at("result").at("resultType"), json::value("complete"));
  co_await connection.stop();
}

TEST(Tasks, AreMadeOfCallsThatTakeLong) {
  in_scene(waits_a_moment, TaskOptions{});
}

Task<> ends_with_the_request(Bench& bench) {
  co_await bench.talk(call("optional"));  // which goes away
  co_await let_run();
  EXPECT_EQ(bench.running, 0);
  const std::string cancel = notification("notifications/cancelled", R"({"requestId":1})");
  co_await bench.talk(call("optional"), "", cancel);
  EXPECT_EQ(bench.running, 0);
}

TEST(Tasks, EndWithTheRequestAsLongAsTheyAreNone) {
  in_scene(ends_with_the_request, TaskOptions{});
}

Task<> is_for_those_who_know(Bench& bench) {
  const auto discovered = co_await bench.say(ask_for("server/discover", R"("x":1)"));
  EXPECT_EQ(discovered.at("result").at("capabilities").at("extensions"),
            json::parse(R"({"io.modelcontextprotocol/tasks":{}})"));
  const json::value refused = co_await bench.say(call("required", "{}"));
  EXPECT_EQ(refused.at("error").at("code"), json::value(-32021));
  EXPECT_EQ(refused.at("error").at("data"), json::parse(R"({"requiredCapabilities":
      {"extensions":{"io.modelcontextprotocol/tasks":{}}}})"));
  const std::string id = co_await bench.begin("optional");
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const std::string members = fmt::format(R"("taskId":"{}","inputResponses":{{}})", id);
    const json::value answer = co_await bench.say(ask_for(method, members, "{}"));
    EXPECT_EQ(answer.at("error").at("code"), json::value(-32021)) << method;
  }
  bench.go.set();
  const json::value plain = co_await bench.say(call("optional", "{}"));
  EXPECT_EQ(plain.at("result").at("resultType"), json::value("complete"));
  const json::value legacy =
      co_await bench.say(request("1", "tools/call", R"({"name":"required"})"));
  EXPECT_TRUE(legacy.at("result").as_object().contains("content"));
}

TEST(Tasks, AreForClientsThatKnowThem) {
  in_scene(is_for_those_who_know);
}

TEST(Tasks, AreUnknownToAServerThatDoesNotUseThem) {
  Server server{demo()};
  add_tool(server, "echo", echo);
  const auto answer = talk(server, {ask_for("tasks/get", R"("taskId":"x")")}).at(0);
  EXPECT_EQ(answer.at("error").at("code"), json::value(-32601));
}

Task<> belongs_to_its_owner(Bench& bench) {
  const std::string id = co_await bench.begin("optional", "alice");
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const json::value others = co_await bench.look(id, method, "{}", "bob");
    const json::value unknown = co_await bench.look("nonsense", method, "{}", "alice");
    EXPECT_EQ(others, unknown);
    EXPECT_EQ(others.at("code"), json::value(-32602));
  }
  EXPECT_EQ(status_of(co_await bench.look(id, "tasks/get", "{}", "alice")), "working");
}

TEST(Tasks, BelongToTheirOwner) {
  in_scene(belongs_to_its_owner);
}

Task<> is_cancelled(Bench& bench) {
  const std::string id = co_await bench.begin("optional");
  const json::value acknowledged = co_await bench.look(id, "tasks/cancel");
  EXPECT_EQ(acknowledged.as_object().size(), 2U) << acknowledged;  // resultType and _meta
  EXPECT_EQ(bench.running, 0);
  const json::value task = co_await bench.look(id);
  EXPECT_EQ(status_of(task), "cancelled");
  EXPECT_FALSE(task.as_object().contains("result"));
  bench.go.set();
  co_await let_run();
  EXPECT_EQ(co_await bench.look(id, "tasks/cancel"), acknowledged);
  EXPECT_EQ(status_of(co_await bench.look(id)), "cancelled");
}

TEST(Tasks, AreCancelled) {
  in_scene(is_cancelled);
}

Task<> is_kept_for_an_hour(Bench& bench) {
  const std::string working = co_await bench.begin("optional");
  const std::string cancelled = co_await bench.begin("optional");
  bench.clock.advance(seconds{60});
  co_await bench.look(cancelled, "tasks/cancel");
  bench.clock.advance(hours{1} - seconds{1});
  co_await let_run();
  EXPECT_EQ((co_await bench.look(cancelled)).at("ttlMs"), json::value(3'660'000));
  bench.clock.advance(seconds{1});
  co_await let_run();
  EXPECT_EQ((co_await bench.look(cancelled)).at("code"), json::value(-32602));
  bench.clock.advance(hours{5});  // as long as it works
  co_await let_run();
  EXPECT_EQ((co_await bench.look(working)).at("ttlMs"), json::value((7 * 3600 + 60) * 1000));
  EXPECT_EQ(bench.tasks.size(), 1U);
}

TEST(Tasks, AreKeptForAnHourAfterTheirEnd) {
  in_scene(is_kept_for_an_hour);
}

Task<> is_bounded(Bench& bench) {
  co_await bench.begin("optional", "alice");
  co_await bench.begin("optional", "alice");
  const auto third = co_await bench.talk(call("optional"), "alice");
  EXPECT_EQ(third.size(), 1U);  // its progress: it waits for the result
  const std::string others = co_await bench.begin("optional", "bob");
  EXPECT_EQ(bench.tasks.size(), 3U);
}

TEST(Tasks, OfOneOwnerAreBounded) {
  TaskOptions options = at_once();
  options.max_per_owner = 2;
  in_scene(is_bounded, options);
}

Task<ToolResult> be_busy(Event& go, Call& c) {
  co_await go.wait();
  c.progress("half of it");
  c.log(LogLevel::error, "", "unheard");
  co_await sleep_for(hours{1});
  co_return ToolResult{};
}

Task<> tells_how_it_goes(Bench& bench) {
  bench.add("busy", TaskSupport::optional,
            [&bench](json::object, Call& c) { return be_busy(bench.go, c); });
  const std::string id = co_await bench.begin("busy");
  EXPECT_FALSE((co_await bench.look(id)).as_object().contains("statusMessage"));
  bench.go.set();
  co_await let_run();
  EXPECT_EQ((co_await bench.look(id)).at("statusMessage"), json::value("half of it"));
}

Task<ToolResult> many_bytes(Call& call, Event& go) {
  call.progress("half");
  co_await go.wait();
  ToolResult result;
  result.content.emplace_back(text_block(std::string(400, 'x')));
  co_return result;
}

Task<> keeps_so_many_bytes(Bench& bench) {
  Event others{co_await asio::this_coro::executor};
  const auto large = [&bench](const json::object&, Call& c) { return many_bytes(c, bench.go); };
  const auto later = [&others](const json::object&, Call& c) { return many_bytes(c, others); };
  bench.add("large", TaskSupport::optional, large);
  bench.add("later", TaskSupport::optional, later);
  const std::string first = co_await bench.begin("large");
  bench.clock.advance(seconds{1});
  const std::string second = co_await bench.begin("large");
  const std::string third = co_await bench.begin("later");
  const std::string fourth = co_await bench.begin("later");
  const std::string foreign = co_await bench.begin("later", "other");
  bench.go.set();
  co_await let_run();
  EXPECT_EQ(status_of(co_await bench.look(first)), "completed");  // and is seen now
  others.set();
  co_await let_run();
  EXPECT_EQ((co_await bench.look(first)).at("message"), json::value("Unknown task"));
  EXPECT_EQ(status_of(co_await bench.look(second)), "completed");
  EXPECT_EQ(status_of(co_await bench.look(third)), "completed");
  const json::value failed = co_await bench.look(fourth);
  EXPECT_EQ(status_of(failed), "failed");
  const std::string why{failed.at("error").at("message").as_string()};
  EXPECT_NE(why.find("is not kept: results of your tasks may have 1000 bytes"), std::string::npos)
      << why;
  EXPECT_EQ(status_of(co_await bench.look(foreign, "tasks/get", "{}", "other")), "completed");
}

TEST(Tasks, KeepSoManyBytesOfResults) {
  TaskOptions options = at_once();
  options.max_kept = 1000;
  in_scene(keeps_so_many_bytes, options);
}

TEST(Tasks, TellHowTheyGo) {
  in_scene(tells_how_it_goes);
}

Task<ToolResult> fail_later(json::object, Call&) {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  fail(Code::unavailable, "no luck");
}

Task<> fails(Bench& bench) {
  bench.add("fails", TaskSupport::optional, fail_later);
  const json::value task = co_await bench.look(co_await bench.begin("fails"));
  EXPECT_EQ(status_of(task), "completed");
  EXPECT_EQ(task.at("result").at("isError"), json::value(true));
}

TEST(Tasks, OfToolsThatFailAreCompleted) {
  in_scene(fails);
}

}  // namespace
}  // namespace belljar::mcp
