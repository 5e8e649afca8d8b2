#include <gmock/gmock.h>

#include "mcp/http_testing.h"
#include "mcp/protocol.h"

namespace belljar::mcp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int code_of(const FakeExchange& exchange) {
  return static_cast<int>(exchange.json().at("error").at("code").as_int64());
}

Task<ToolResult> report(json::object, Call& call) {
  call.progress("half", 2);
  call.let_client_go();  // which modern clients cannot be
  co_return ToolResult{};
}

// Ends when a test says so.
struct Gate {
  explicit Gate(HttpBench& at) : bench{at}, open{at.context.get_executor()} {
    add_tool(bench.server, "gate", [this](json::object, Call&) { return wait(); });
  }
  // No call of the tool outlives it.
  ~Gate() {
    open.set();
    bench.poll();
  }
  Task<ToolResult> wait() {
    ++waiting;
    try {
      co_await open.wait();
    } catch (...) {
      ++cancelled;
      throw;
    }
    co_return ToolResult{};
  }
  HttpBench& bench;
  Event open;
  int waiting = 0;
  int cancelled = 0;
};

std::string call(std::string_view tool, std::string_view more_meta = "") {
  return modern("7", "tools/call", fmt::format(R"("name":"{}","arguments":{{}})", tool), more_meta);
}

TEST(HttpModern, AnswersWithJson) {
  HttpBench bench;
  add_tool(bench.server, "echo", echo);
  auto& exchange = bench.post(modern_headers("tools/list"), modern("1", "tools/list"));
  EXPECT_EQ(exchange.status, 200);
  EXPECT_EQ(exchange.header("Content-Type"), "application/json");
  EXPECT_EQ(exchange.header("Mcp-Session-Id"), "");
  EXPECT_EQ(exchange.json().at("result").at("resultType"), "complete");
  EXPECT_EQ(exchange.json().at("id"), 1);
  EXPECT_TRUE(exchange.returned);
}

TEST(HttpModern, ChecksComeInTheirOrder) {
  HttpBench bench;
  add_tool(bench.server, "echo", echo);
  const auto headers = modern_headers("tools/call", "echo");
  const std::string body = call("echo");

  // 4: the method.
  auto& put = bench.send("PUT", headers, body);
  EXPECT_EQ(put.status, 405);
  EXPECT_EQ(put.header("Allow"), "GET, POST, DELETE");
  for (const char* method : {"GET", "DELETE"}) {
    auto& legacy = bench.send(method, headers);
    EXPECT_EQ(legacy.status, 405) << method;
    EXPECT_EQ(legacy.header("Allow"), "POST") << method;
  }

  // 5: what it is, before what is accepted.
  auto& text = bench.post({{"content-type", "text/plain"}, {"accept", "image/png"}}, body);
  EXPECT_EQ(text.status, 415);
  EXPECT_FALSE(text.read);

  // 6: what is accepted, before the body.
  auto& image = bench.post({{"content-type", "application/json"}, {"accept", "image/png"}}, "{");
  EXPECT_EQ(image.status, 406);
  EXPECT_FALSE(image.read);

  // 8: JSON, then JSON-RPC.
  EXPECT_EQ(code_of(bench.post(headers, "{")), kParseError);
  EXPECT_EQ(code_of(bench.post(headers, "{}")), kInvalidRequest);

  EXPECT_EQ(bench.post(headers, body).status, 200);
}

TEST(HttpModern, TakesOnlyJson) {
  HttpBench bench;
  add_tool(bench.server, "echo", echo);
  const auto status_with = [&bench](net::HttpHeaders types) {
    auto headers = modern_headers("tools/list");
    headers.erase(headers.begin());
    for (auto& header : types) headers.push_back(header);
    return bench.post(headers, modern("1", "tools/list")).status;
  };
  EXPECT_EQ(status_with({{"content-type", "Application/JSON ; charset=utf-8"}}), 200);
  EXPECT_EQ(status_with({}), 415);
  EXPECT_EQ(status_with({{"content-type", ""}}), 415);
  EXPECT_EQ(status_with({{"content-type", "text/plain;application/json"}}), 415);
  EXPECT_EQ(status_with({{"content-type", "application/json, text/plain"}}), 415);
  EXPECT_EQ(status_with({{"content-type", "application/x-www-form-urlencoded"}}), 415);
  EXPECT_EQ(
      status_with({{"content-type", "application/json"}, {"content-type", "application/json"}}),
      415);
}

TEST(HttpModern, RefusesBodiesThatAreTooLongOrTooDeep) {
  HttpEndpointOptions options;
  options.max_body = 1000;
  HttpBench bench{options};
  const auto headers = modern_headers("tools/list");
  EXPECT_EQ(bench.post(headers, std::string(1001, ' ')).status, 413);
  auto& deep = bench.post(headers, std::string(500, '['));
  EXPECT_EQ(deep.status, 400);
  EXPECT_EQ(code_of(deep), kParseError);
}

// One check of the headers against the body: which error comes first if several things are wrong.
TEST(HttpModern, ChecksHeadersInTheirOrder) {
  HttpBench bench;
  add_tool(bench.server, "echo", echo);
  const auto expect = [&bench](net::HttpHeaders headers, const std::string& body, int status,
                               int code) {
    auto& exchange = bench.post(std::move(headers), body);
    EXPECT_EQ(exchange.status, status) << body;
    EXPECT_EQ(code_of(exchange), code) << exchange.sent;
    EXPECT_EQ(exchange.json().at("id"), 7) << exchange.sent;
  };
  const auto other = with(kJson, "mcp-protocol-version", "2025-11-25");
  const auto newest = with(kJson, "mcp-protocol-version", "2026-07-28");
  const std::string version = R"("io.modelcontextprotocol/protocolVersion":)";
  const std::string capabilities = R"("io.modelcontextprotocol/clientCapabilities":{})";
  const auto with_meta = [](const std::string& meta) {
    return request("7", "tools/call", R"({"name":"echo","_meta":{)" + meta + "}}");
  };

  // a: the envelope, before headers that contradict it.
  expect(other, with_meta(version + R"("2026-07-28")"), 400, kInvalidParams);
  expect(other, with_meta(version + "1," + capabilities), 400, kInvalidParams);
  expect(newest, request("7", "tools/call"), 400, kInvalidParams);
  expect(newest, with_meta(capabilities), 400, kInvalidParams);
  // b: the header's version is another, before a version that nobody has.
  expect(newest, with_meta(version + R"("v999.0.0",)" + capabilities), 400, kHeaderMismatch);
  expect(other, call("echo"), 400, kHeaderMismatch);
  // c: a version that nobody has, whether the header repeats it or not.
  const auto unknown = with_meta(version + R"("v999.0.0",)" + capabilities);
  expect(with(kJson, "mcp-protocol-version", "v999.0.0"), unknown, 400, kUnsupportedVersion);
  expect(kJson, unknown, 400, kUnsupportedVersion);
  // d: no version in the headers.
  expect(with(kJson, "mcp-method", "tools/call"), call("echo"), 400, kHeaderMismatch);
  // e: the method; values are case-sensitive.
  expect(newest, call("echo"), 400, kHeaderMismatch);
  expect(modern_headers("TOOLS/CALL", "echo"), call("echo"), 400, kHeaderMismatch);
  expect(modern_headers("tools/list", "echo"), call("echo"), 400, kHeaderMismatch);
  // f: the name.
  expect(modern_headers("tools/call"), call("echo"), 400, kHeaderMismatch);
  expect(modern_headers("tools/call", "other"), call("echo"), 400, kHeaderMismatch);
  expect(modern_headers("tools/call", "=?base64?SGVsbG8?="), call("echo"), 400, kHeaderMismatch);
  // A header that is there twice is equal to nothing.
  expect(with(modern_headers("tools/call", "echo"), "mcp-name", "echo"), call("echo"), 400,
         kHeaderMismatch);
  // g: the method is unknown.
  expect(modern_headers("ping"), modern("7", "ping"), 404, kMethodNotFound);
  expect(modern_headers("initialize"), modern("7", "initialize"), 404, kMethodNotFound);
  // i: a method that fails is served.
  expect(modern_headers("tools/call", "no"), call("no"), 200, kInvalidParams);
}

TEST(HttpModern, AcceptsNamesWithBlanksAroundAndEncoded) {
  HttpBench bench;
  add_tool(bench.server, "echo", echo);
  EXPECT_EQ(bench.post(modern_headers("tools/call", "  echo\t"), call("echo")).status, 200);
  EXPECT_EQ(bench.post(modern_headers("tools/call", "=?base64?ZWNobw==?="), call("echo")).status,
            200);
}

TEST(HttpModern, ChecksParametersThatAreRepeatedInHeaders) {
  class Tagged final : public Tool {
   public:
    Tagged() {
      info_.name = "tagged";
      info_.input_schema = json::parse(R"({"type":"object","properties":
          {"region":{"type":"string","x-mcp-header":"Region"}}})")
                               .as_object();
    }
    const ToolInfo& info() const override { return info_; }
    Task<ToolResult> call(json::object arguments, Call& call) override {
      return echo(std::move(arguments), call);
    }

   private:
    ToolInfo info_;
  };
  HttpBench bench;
  bench.server.add(std::make_unique<Tagged>());
  const auto headers = modern_headers("tools/call", "tagged");
  const std::string body =
      modern("7", "tools/call", R"("name":"tagged","arguments":{"region":"eu"})");
  auto& missing = bench.post(headers, body);
  EXPECT_EQ(missing.status, 400);
  EXPECT_EQ(code_of(missing), kHeaderMismatch);
  EXPECT_EQ(bench.post(with(headers, "mcp-param-region", "us"), body).status, 400);
  EXPECT_EQ(bench.post(with(headers, "mcp-param-region", "eu"), body).status, 200);
}

TEST(HttpModern, NotificationsAreAcceptedAndResponsesAndBatchesAreNot) {
  HttpBench bench;
  add_tool(bench.server, "echo", echo);
  const auto headers = with(kJson, "mcp-protocol-version", "2026-07-28");
  auto& noticed = bench.post(headers, notification("notifications/cancelled"));
  EXPECT_EQ(noticed.status, 202);
  EXPECT_EQ(noticed.sent, "");
  auto& claimed = bench.post(kJson, notification("notifications/x", "{\"_meta\":{" + kMeta + "}}"));
  EXPECT_EQ(claimed.status, 202);
  auto& response = bench.post(headers, R"({"jsonrpc":"2.0","id":"s1","result":{}})");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(code_of(response), kInvalidRequest);
  auto& batch = bench.post(kJson, "[" + modern("1", "tools/list") + "]");
  EXPECT_EQ(batch.status, 400);
  EXPECT_EQ(code_of(batch), kInvalidRequest);
  auto& handshake = bench.post(headers, initialize("2025-11-25"));
  EXPECT_EQ(handshake.status, 400);
  EXPECT_EQ(code_of(handshake), kHeaderMismatch);
}

TEST(HttpModern, BecomesAStreamWithTheFirstNotification) {
  HttpBench bench;
  add_tool(bench.server, "report", report);
  auto& exchange =
      bench.post(modern_headers("tools/call", "report"), call("report", R"("progressToken":"p")"));
  EXPECT_EQ(exchange.status, 200);
  ASSERT_TRUE(exchange.is_stream());
  EXPECT_EQ(exchange.header("X-Accel-Buffering"), "no");
  ASSERT_EQ(exchange.blocks().size(), 2u);
  EXPECT_EQ(exchange.event(0).at("method"), "notifications/progress");
  EXPECT_EQ(exchange.event(1).at("id"), 7);
  EXPECT_THAT(exchange.sent, Not(HasSubstr("id: ")));
  EXPECT_TRUE(exchange.finished);
}

TEST(HttpModern, SendsTheFormThatTheClientTakes) {
  HttpBench bench;
  add_tool(bench.server, "report", report);
  auto headers = modern_headers("tools/call", "report");
  headers[1].second = "application/json";
  auto& plain = bench.post(headers, call("report", R"("progressToken":"p")"));
  EXPECT_FALSE(plain.is_stream());
  EXPECT_EQ(plain.json().at("id"), 7);
  headers[1].second = "text/event-stream;q=0.9";
  auto& stream = bench.post(headers, call("report"));
  EXPECT_TRUE(stream.is_stream());
  EXPECT_EQ(stream.event(0).at("id"), 7);
}

TEST(HttpModern, BecomesAStreamWithCommentsIfItTakesLong) {
  HttpEndpointOptions options;
  options.streams.patience = milliseconds{1};
  options.streams.keep_alive = milliseconds{1};
  HttpBench bench{options};
  Gate gate{bench};
  auto& exchange = bench.post(modern_headers("tools/call", "gate"), call("gate"));
  EXPECT_TRUE(bench.until(
      [&] { return exchange.sent.find(": keepalive\n\n: keepalive\n\n") != std::string::npos; }));
  EXPECT_TRUE(exchange.is_stream());
  gate.open.set();
  bench.poll();
  EXPECT_TRUE(exchange.finished);
  EXPECT_THAT(exchange.blocks().back(), HasSubstr("\"id\":7"));
}

TEST(HttpModern, HangingUpCancels) {
  HttpBench bench;
  Gate gate{bench};
  auto& exchange = bench.post(modern_headers("tools/call", "gate"), call("gate"));
  auto& other = bench.post(modern_headers("tools/call", "gate"), call("gate"));
  EXPECT_EQ(gate.waiting, 2);
  exchange.hang_up();
  bench.poll();
  EXPECT_EQ(gate.cancelled, 1);
  EXPECT_TRUE(exchange.returned);
  EXPECT_EQ(exchange.status, 0);
  EXPECT_FALSE(other.returned);
  EXPECT_EQ(bench.endpoint.requests(), 1u);
  gate.open.set();
  bench.poll();
  EXPECT_EQ(other.status, 200);
}

TEST(HttpModern, TheSameIdsDoNotMeet) {
  HttpBench bench;
  Gate gate{bench};
  auto& first = bench.post(modern_headers("tools/call", "gate"), call("gate"));
  auto& second = bench.post(modern_headers("tools/call", "gate"), call("gate"));
  // Nor does a notification of somebody else cancel them.
  bench.post(with(kJson, "mcp-protocol-version", "2026-07-28"),
             notification("notifications/cancelled", R"({"requestId":7})"));
  gate.open.set();
  bench.poll();
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(second.status, 200);
}

TEST(HttpModern, ListensUntilTheClientHangsUp) {
  HttpBench bench;
  add_tool(bench.server, "echo", echo);
  auto& exchange = bench.post(
      modern_headers("subscriptions/listen"),
      modern("\"l\"", "subscriptions/listen", R"("notifications":{"toolsListChanged":true})"));
  ASSERT_TRUE(exchange.is_stream());
  EXPECT_EQ(exchange.event(0).at("method"), "notifications/subscriptions/acknowledged");
  bench.server.announce_tools_changed();
  bench.server.announce_prompts_changed();
  bench.poll();
  ASSERT_EQ(exchange.blocks().size(), 2u);
  EXPECT_EQ(exchange.event(1).at("method"), "notifications/tools/list_changed");
  EXPECT_FALSE(exchange.finished);
  exchange.hang_up();
  bench.poll();
  EXPECT_TRUE(exchange.returned);
  EXPECT_EQ(bench.endpoint.requests(), 0u);
}

TEST(HttpModern, DrainEndsSubscriptionsAndLetsRequestsFinish) {
  HttpBench bench;
  Gate gate{bench};
  const std::string listen =
      modern("1", "subscriptions/listen", R"("notifications":{"toolsListChanged":true})");
  auto& listening = bench.post(modern_headers("subscriptions/listen"), listen);
  auto& calling = bench.post(modern_headers("tools/call", "gate"), call("gate"));
  bench.endpoint.drain();
  bench.poll();
  EXPECT_TRUE(listening.finished);
  EXPECT_EQ(listening.event(1).at("result").at("resultType"), "complete");
  EXPECT_EQ(bench.post(modern_headers("subscriptions/listen"), listen).status, 503);
  EXPECT_FALSE(calling.returned);
  gate.open.set();
  bench.poll();
  EXPECT_EQ(calling.status, 200);
}

TEST(HttpModern, StopCancelsRequestsAndSaysSo) {
  HttpBench bench;
  Gate gate{bench};
  auto& exchange = bench.post(modern_headers("tools/call", "gate"), call("gate"));
  asio::co_spawn(bench.context, bench.endpoint.stop(), [](const std::exception_ptr&) {});
  bench.poll();
  EXPECT_EQ(exchange.status, 503);
  EXPECT_EQ(gate.cancelled, 1);
  EXPECT_EQ(bench.post(modern_headers("tools/list"), modern("1", "tools/list")).status, 503);
}

TEST(HttpModern, HasOnlySoManyRequestsAtOnce) {
  HttpEndpointOptions options;
  options.max_requests = 1;
  HttpBench bench{options};
  Gate gate{bench};
  bench.post(modern_headers("tools/call", "gate"), call("gate"));
  auto& refused = bench.post(modern_headers("tools/call", "gate"), call("gate"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.header("Retry-After"), "1");
  gate.open.set();
  bench.poll();
  EXPECT_EQ(bench.post(modern_headers("tools/call", "gate"), call("gate")).status, 200);
}

Task<ToolResult> chatter(json::object, Call& call) {
  for (int i = 0; i < 1000; ++i) call.log(LogLevel::error, "", json::value(std::string(100, 'x')));
  co_return ToolResult{};
}

TEST(HttpModern, AClientThatDoesNotReadLosesNotificationsButNotItsAnswer) {
  HttpEndpointOptions options;
  options.streams.max_queued = 2000;
  HttpBench bench{options};
  add_tool(bench.server, "chatter", chatter);
  Gate gate{bench};
  auto& exchange = bench.post(modern_headers("tools/call", "chatter"),
                              call("chatter", R"("io.modelcontextprotocol/logLevel":"debug")"));
  EXPECT_TRUE(exchange.finished);
  EXPECT_LT(exchange.sent.size(), 3500u);
  EXPECT_GT(exchange.blocks().size(), 5u);
  EXPECT_THAT(exchange.blocks().back(), HasSubstr("\"id\":7"));
}

TEST(HttpModern, TextOfAToolCannotBeTakenForAnEvent) {
  HttpBench bench;
  add_tool(bench.server, "echo", echo);
  auto headers = modern_headers("tools/call", "echo");
  headers[1].second = "text/event-stream";
  auto& exchange = bench.post(
      headers, modern("7", "tools/call",
                      R"("name":"echo","arguments":{"a":"\n\ndata: {}\r\n\r\nevent: x"})"));
  EXPECT_EQ(exchange.blocks().size(), 1u);
  EXPECT_EQ(exchange.event(0).at("id"), 7);
}

}  // namespace
}  // namespace belljar::mcp
