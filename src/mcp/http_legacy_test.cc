#include <gmock/gmock.h>

#include "base/fake_clock.h"
#include "mcp/http_testing.h"
#include "mcp/protocol.h"

namespace belljar::mcp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int code_of(const FakeExchange& exchange) {
  return static_cast<int>(exchange.json().at("error").at("code").as_int64());
}

std::string call(std::string_view id, std::string_view tool, std::string_view meta = "") {
  return request(id, "tools/call",
                 fmt::format(R"({{"name":"{}","arguments":{{}},"_meta":{{{}}}}})", tool, meta));
}

// A tool that tells of its start, lets go of its client if told to, and ends when a test says so.
struct Work {
  explicit Work(HttpBench& at, bool lets_go = false) : bench{at}, go{at.context.get_executor()} {
    add_tool(bench.server, "work", [this, lets_go](json::object, Call& call) {
      if (lets_go) call.let_client_go();
      return wait(call);
    });
  }
  // No call of the tool outlives it.
  ~Work() {
    go.set();
    bench.poll();
  }
  Task<ToolResult> wait(Call& call) {
    call.progress("started");
    try {
      co_await go.wait();
    } catch (...) {
      ++cancelled;
      throw;
    }
    call.progress("ends");
    co_return ToolResult{};
  }
  HttpBench& bench;
  Event go;
  int cancelled = 0;
};

net::HttpHeaders get_headers(const net::HttpHeaders& session) {
  net::HttpHeaders headers{{"accept", "text/event-stream"}};
  headers.insert(headers.end(), session.begin() + 2, session.end());
  return headers;
}

TEST(HttpLegacy, HandshakeMakesASession) {
  HttpBench bench;
  add_tool(bench.server, "echo", echo);
  auto& first = bench.post(kJson, initialize("2025-06-18"));
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.json().at("result").at("protocolVersion"), "2025-06-18");
  const std::string id = first.header("Mcp-Session-Id");
  EXPECT_EQ(id.size(), 32u);
  auto& second = bench.post(with(kJson, "mcp-session-id", "chosen"), initialize("2025-06-18"));
  EXPECT_EQ(second.header("Mcp-Session-Id").size(), 32u);
  EXPECT_NE(second.header("Mcp-Session-Id"), id);
  EXPECT_EQ(bench.endpoint.sessions(), 2u);

  const auto headers = with(kJson, "mcp-session-id", id);
  auto& noticed = bench.post(headers, notification("notifications/initialized"));
  EXPECT_EQ(noticed.status, 202);
  EXPECT_EQ(noticed.sent, "");
  auto& list = bench.post(headers, request("1", "tools/list"));
  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.header("Mcp-Session-Id"), id);
  EXPECT_FALSE(list.json().at("result").as_object().contains("resultType"));
}

TEST(HttpLegacy, AFailedHandshakeMakesNone) {
  HttpBench bench;
  auto& exchange = bench.post(kJson, request("0", "initialize"));
  EXPECT_EQ(exchange.status, 200);
  EXPECT_EQ(code_of(exchange), kInvalidParams);
  EXPECT_EQ(exchange.header("Mcp-Session-Id"), "");
  EXPECT_EQ(bench.endpoint.sessions(), 0u);
}

TEST(HttpLegacy, NeedsASessionThatExists) {
  HttpBench bench;
  add_tool(bench.server, "echo", echo);
  const auto session = bench.handshake();
  const auto unknown = with(kJson, "mcp-session-id", std::string(32, '0'));
  for (const std::string& body : {request("1", "tools/list"), notification("notifications/x"),
                                  std::string{R"({"jsonrpc":"2.0","id":1,"result":{}})"},
                                  "[" + request("1", "tools/list") + "]"}) {
    EXPECT_EQ(bench.post(kJson, body).status, 400) << body;
    EXPECT_EQ(bench.post(unknown, body).status, 404) << body;
  }
  EXPECT_EQ(bench.send("GET", {{"accept", "text/event-stream"}}).status, 400);
  EXPECT_EQ(bench.send("GET", get_headers(unknown)).status, 404);
  EXPECT_EQ(bench.send("DELETE", {}).status, 400);
  EXPECT_EQ(bench.send("DELETE", unknown).status, 404);
  // Two sessions at once are none.
  EXPECT_EQ(bench.post(with(session, "mcp-session-id", "x"), request("1", "ping")).status, 404);
}

TEST(HttpLegacy, ChecksTheVersionHeader) {
  HttpBench bench;
  const auto session = bench.handshake("2025-06-18");
  auto headers = session;
  headers.back().second = "2024-01-01";
  EXPECT_EQ(bench.post(headers, request("1", "ping")).status, 400);
  headers.back().second = "2026-07-28";  // and no envelope
  auto& modern = bench.post(headers, request("1", "ping"));
  EXPECT_EQ(modern.status, 400);
  EXPECT_EQ(code_of(modern), kInvalidParams);
  headers.pop_back();
  EXPECT_EQ(bench.post(headers, request("1", "ping")).status, 200);
}

TEST(HttpLegacy, ErrorsOfRequestsAreAnswers) {
  HttpBench bench;
  const auto session = bench.handshake();
  auto& exchange = bench.post(session, request("1", "unknown/method"));
  EXPECT_EQ(exchange.status, 200);
  EXPECT_EQ(code_of(exchange), kMethodNotFound);
  auto& again = bench.post(session, initialize("2025-11-25"));
  EXPECT_EQ(again.status, 400);
  EXPECT_EQ(code_of(again), kInvalidRequest);
}

TEST(HttpLegacy, BatchesAreForTheOneVersionThatHasThem) {
  HttpBench bench;
  add_tool(bench.server, "echo", echo);
  const auto session = bench.handshake("2025-03-26");
  const std::string ping = request("1", "ping");
  auto& both = bench.post(session, "[" + ping + "," + request("2", "tools/list") + "," +
                                       notification("notifications/x") + ",7]");
  EXPECT_EQ(both.status, 200);
  ASSERT_TRUE(both.json().is_array());
  EXPECT_EQ(both.json().as_array().size(), 3u);
  EXPECT_EQ(bench.post(session, "[" + notification("notifications/x") + "]").status, 202);
  EXPECT_EQ(bench.post(session, "[" + initialize("2025-03-26") + "]").status, 400);
  auto& one = bench.post(session, "[" + ping + "]");
  EXPECT_EQ(one.json().as_array().size(), 1u);
  EXPECT_EQ(bench.post(session, "[]").status, 400);
  std::string many = "[" + ping;
  for (int i = 0; i < 100; ++i) many += "," + ping;
  EXPECT_EQ(bench.post(session, many + "]").status, 400);
  auto& newer = bench.post(bench.handshake("2025-06-18"), "[" + ping + "]");
  EXPECT_EQ(newer.status, 400);
  EXPECT_EQ(code_of(newer), kInvalidRequest);
}

TEST(HttpLegacy, ACallIsAStreamThatBeginsWithAnId) {
  HttpBench bench;
  Work work{bench};
  const auto session = bench.handshake();
  auto& exchange = bench.post(session, call("2", "work", R"("progressToken":1)"));
  ASSERT_TRUE(exchange.is_stream());
  EXPECT_EQ(exchange.field(0, "id"), "2_0");
  EXPECT_EQ(exchange.field(0, "retry"), "500");
  EXPECT_EQ(exchange.field(0, "data"), "");
  EXPECT_EQ(exchange.field(1, "id"), "2_1");
  EXPECT_EQ(exchange.event(1).at("method"), "notifications/progress");
  work.go.set();
  bench.poll();
  EXPECT_TRUE(exchange.finished);
  EXPECT_EQ(exchange.event(3).at("id"), 2);
}

TEST(HttpLegacy, OlderClientsGetNoEmptyEvent) {
  HttpBench bench;
  Work work{bench};
  const auto session = bench.handshake("2025-06-18");
  auto& silent = bench.post(session, call("2", "work"));
  EXPECT_EQ(silent.status, 0);
  auto& talkative = bench.post(session, call("3", "work", R"("progressToken":1)"));
  EXPECT_EQ(talkative.field(0, "id"), "3_1");
  EXPECT_EQ(talkative.event(0).at("method"), "notifications/progress");
  work.go.set();
  bench.poll();
  EXPECT_EQ(silent.header("Content-Type"), "application/json");
  EXPECT_EQ(silent.json().at("id"), 2);
  EXPECT_TRUE(talkative.finished);
}

TEST(HttpLegacy, HangingUpCancelsNothingAndTheAnswerWaits) {
  HttpBench bench;
  Work work{bench};
  const auto session = bench.handshake();
  auto& exchange = bench.post(session, call("2", "work", R"("progressToken":1)"));
  const std::string last = exchange.field(1, "id");
  exchange.hang_up();
  bench.poll();
  EXPECT_TRUE(exchange.returned);
  EXPECT_EQ(work.cancelled, 0);
  work.go.set();
  bench.poll();

  auto& resumed = bench.send("GET", with(get_headers(session), "last-event-id", last));
  EXPECT_EQ(resumed.status, 200);
  EXPECT_TRUE(resumed.finished);
  ASSERT_EQ(resumed.blocks().size(), 2u);
  EXPECT_EQ(resumed.event(0).at("params").at("message"), "ends");
  EXPECT_EQ(resumed.event(1).at("id"), 2);
  // From the beginning, again.
  auto& replayed = bench.send("GET", with(get_headers(session), "last-event-id", "2_0"));
  EXPECT_EQ(replayed.blocks().size(), 3u);
}

TEST(HttpLegacy, WhoComesBackTakesTheStreamOver) {
  HttpBench bench;
  Work work{bench};
  const auto session = bench.handshake();
  auto& first = bench.post(session, call("2", "work"));
  auto& second = bench.send("GET", with(get_headers(session), "last-event-id", "2_0"));
  EXPECT_TRUE(first.finished);
  EXPECT_FALSE(second.finished);
  work.go.set();
  bench.poll();
  EXPECT_THAT(first.sent, Not(HasSubstr("result")));
  EXPECT_EQ(second.event(0).at("id"), 2);
}

TEST(HttpLegacy, ForgedEventIdsAreRefused) {
  HttpBench bench;
  Work work{bench};
  const auto session = bench.handshake();
  const auto other = bench.handshake();
  bench.post(session, call("2", "work"));
  for (const char* id : {"3_0", "1_0", "2_1", "2_99", "x", "", "1", "-1_0", "2_0\n", "0_1"}) {
    auto& exchange = bench.send("GET", with(get_headers(session), "last-event-id", id));
    EXPECT_EQ(exchange.status, 400) << id;
  }
  EXPECT_EQ(bench.send("GET", with(get_headers(other), "last-event-id", "2_0")).status, 400);
}

TEST(HttpLegacy, AToolLetsItsClientPoll) {
  HttpBench bench;
  Work work{bench, true};
  const auto session = bench.handshake();
  auto& exchange = bench.post(session, call("2", "work"));
  EXPECT_TRUE(exchange.finished);
  EXPECT_EQ(exchange.field(0, "id"), "2_0");
  EXPECT_THAT(exchange.sent, Not(HasSubstr("result")));
  auto& resumed = bench.send("GET", with(get_headers(session), "last-event-id", "2_0"));
  EXPECT_FALSE(resumed.finished);
  work.go.set();
  bench.poll();
  EXPECT_TRUE(resumed.finished);
  EXPECT_EQ(resumed.event(0).at("id"), 2);
}

TEST(HttpLegacy, OlderClientsAreNotSentAway) {
  HttpBench bench;
  Work work{bench, true};
  auto& exchange = bench.post(bench.handshake("2025-06-18"), call("2", "work"));
  EXPECT_FALSE(exchange.returned);
  work.go.set();
  bench.poll();
  EXPECT_EQ(exchange.json().at("id"), 2);
}

TEST(HttpLegacy, CancellingEndsTheStreamWithoutAnAnswer) {
  HttpBench bench;
  Work work{bench};
  const auto session = bench.handshake();
  auto& exchange = bench.post(session, call("2", "work"));
  auto& other = bench.post(session, call("3", "work"));
  // Not by somebody else.
  bench.post(bench.handshake(), notification("notifications/cancelled", R"({"requestId":2})"));
  EXPECT_EQ(work.cancelled, 0);
  auto& cancel = bench.post(session, notification("notifications/cancelled", R"({"requestId":2})"));
  EXPECT_EQ(cancel.status, 202);
  EXPECT_EQ(work.cancelled, 1);
  EXPECT_TRUE(exchange.finished);
  EXPECT_THAT(exchange.sent, Not(HasSubstr("jsonrpc")));
  EXPECT_FALSE(other.finished);
}

TEST(HttpLegacy, AnnouncementsHaveTheirOwnStream) {
  HttpBench bench;
  add_tool(bench.server, "echo", echo);
  const auto session = bench.handshake();
  bench.server.announce_tools_changed();
  EXPECT_EQ(bench.send("GET", session).status, 200);  // its Accept names both types
  auto& refused = bench.send("GET", get_headers(session));
  EXPECT_EQ(refused.status, 409);
  auto headers = get_headers(session);
  headers[0].second = "application/json";
  EXPECT_EQ(bench.send("GET", headers).status, 406);
  headers[0].second = "*/*";
  EXPECT_EQ(bench.send("GET", headers).status, 406);
}

TEST(HttpLegacy, AnnouncementsAreNotLostBetweenTwoStreams) {
  HttpBench bench;
  add_tool(bench.server, "echo", echo);
  const auto session = bench.handshake();
  auto& first = bench.send("GET", get_headers(session));
  EXPECT_EQ(first.field(0, "id"), "0_0");
  bench.server.announce_tools_changed();
  bench.poll();
  EXPECT_EQ(first.event(1).at("method"), "notifications/tools/list_changed");
  first.hang_up();
  bench.poll();
  bench.server.announce_prompts_changed();
  auto& second = bench.send("GET", get_headers(session));
  ASSERT_EQ(second.blocks().size(), 2u);
  EXPECT_EQ(second.event(1).at("method"), "notifications/prompts/list_changed");
  second.hang_up();
  bench.poll();
  auto& third = bench.send("GET", with(get_headers(session), "last-event-id", "0_0"));
  EXPECT_EQ(third.blocks().size(), 2u);
}

TEST(HttpLegacy, DeleteEndsTheSessionAndItsRequests) {
  HttpBench bench;
  Work work{bench};
  const auto session = bench.handshake();
  auto& calling = bench.post(session, call("2", "work"));
  auto& listening = bench.send("GET", get_headers(session));
  EXPECT_EQ(bench.send("DELETE", session).status, 200);
  EXPECT_EQ(work.cancelled, 1);
  EXPECT_TRUE(calling.finished);
  EXPECT_TRUE(listening.finished);
  EXPECT_EQ(bench.endpoint.sessions(), 0u);
  EXPECT_EQ(bench.post(session, request("1", "ping")).status, 404);
  EXPECT_EQ(bench.send("DELETE", session).status, 404);
}

TEST(HttpLegacy, DeleteAnswersWhoWaitsForJson) {
  HttpBench bench;
  Work work{bench};
  const auto session = bench.handshake("2025-06-18");
  auto& calling = bench.post(session, call("2", "work"));
  bench.send("DELETE", session);
  EXPECT_EQ(calling.status, 404);
}

TEST(HttpLegacy, SessionsOfAnotherOwnerAreUnknown) {
  HttpBench bench;
  HttpEndpoint other{bench.context.get_executor(), bench.server, "other"};
  const auto session = bench.handshake();
  FakeExchange theirs{
      bench.context.get_executor(), {"POST", "/mcp", session, ""}, request("1", "ping")};
  auto unknown_id = session;
  unknown_id[2].second = std::string(32, 'f');
  FakeExchange nobodys{
      bench.context.get_executor(), {"POST", "/mcp", unknown_id, ""}, request("1", "ping")};
  TaskGroup tasks{bench.context.get_executor()};
  tasks.spawn("theirs", other.handle(theirs));
  tasks.spawn("nobody's", other.handle(nobodys));
  bench.poll();
  EXPECT_EQ(theirs.status, 404);
  EXPECT_EQ(theirs.sent, nobodys.sent);
  asio::co_spawn(bench.context, other.stop(), [](const std::exception_ptr&) {});
  bench.poll();
}

TEST(HttpLegacy, IdleSessionsExpire) {
  FakeClock clock;
  HttpEndpointOptions options;
  options.session_idle = std::chrono::minutes{10};
  options.clock = &clock;
  HttpBench bench{options};
  Work work{bench};
  const auto idle = bench.handshake();
  const auto busy = bench.handshake();
  bench.post(busy, call("2", "work")).hang_up();
  clock.advance(std::chrono::minutes{6});
  const auto used = bench.handshake();
  clock.advance(std::chrono::minutes{5});
  bench.poll();
  EXPECT_EQ(bench.post(idle, request("1", "ping")).status, 404);
  EXPECT_EQ(bench.post(used, request("1", "ping")).status, 200);
  EXPECT_EQ(bench.endpoint.sessions(), 2u);
  work.go.set();
  bench.poll();
  clock.advance(std::chrono::minutes{9});
  bench.poll();
  EXPECT_EQ(bench.endpoint.sessions(), 2u);
  clock.advance(std::chrono::minutes{20});
  bench.poll();
  EXPECT_EQ(bench.endpoint.sessions(), 0u);
}

TEST(HttpLegacy, TheOldestIdleSessionMakesRoom) {
  FakeClock clock;
  HttpEndpointOptions options;
  options.max_sessions = 2;
  options.clock = &clock;
  HttpBench bench{options};
  Work work{bench};
  const auto first = bench.handshake();
  clock.advance(std::chrono::seconds{1});
  const auto second = bench.handshake();
  auto& calling = bench.post(first, call("2", "work"));
  const auto third = bench.handshake();
  EXPECT_EQ(bench.post(second, request("1", "ping")).status, 404);
  EXPECT_EQ(bench.post(third, request("1", "ping")).status, 200);
  bench.send("GET", get_headers(third));
  EXPECT_EQ(bench.post(kJson, initialize("2025-11-25")).status, 503);
  EXPECT_FALSE(calling.finished);
}

TEST(HttpLegacy, KeepsOnlySoManyCompleteStreams) {
  HttpEndpointOptions options;
  options.streams.kept = 2;
  HttpBench bench{options};
  Work work{bench};
  const auto session = bench.handshake();
  for (const char* id : {"1", "2", "3"}) bench.post(session, call(id, "work"));
  work.go.set();
  bench.poll();
  bench.post(session, request("4", "ping"));
  EXPECT_EQ(bench.send("GET", with(get_headers(session), "last-event-id", "2_0")).status, 400);
  EXPECT_EQ(bench.send("GET", with(get_headers(session), "last-event-id", "4_0")).status, 200);
}

}  // namespace
}  // namespace belljar::mcp
