#include "serve/overseen_tool.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fake_clock.h"
#include "base/posix.h"
#include "base/request_context.h"
#include "base/task_group.h"
#include "mcp/testing.h"
#include "serve/bearer_tokens.h"

namespace belljar::serve {
namespace {

using std::chrono::seconds;

mcp::ActiveCall::Setup call_of(std::string owner) {
  mcp::ActiveCall::Setup setup;
  setup.owner = std::move(owner);
  return setup;
}

class OverseenToolTest : public testing::Test {
 protected:
  OverseenToolTest() { describe_calls(metrics_); }

  std::unique_ptr<mcp::Tool> make(std::string name, mcp::FunctionTool::Function function) {
    mcp::ToolInfo info;
    info.name = std::move(name);
    return oversee(std::make_unique<mcp::FunctionTool>(std::move(info), std::move(function)),
                   "alice", oversight_);
  }
  mcp::ToolResult call(mcp::Tool& tool, json::object arguments = {}) {
    std::optional<mcp::ToolResult> result;
    std::exception_ptr failure;
    asio::co_spawn(context_, tool.call(std::move(arguments), call_),
                   [&](const std::exception_ptr& e, mcp::ToolResult value) {
                     failure = e;
                     result = std::move(value);
                   });
    context_.restart();
    context_.run();
    if (failure) std::rethrow_exception(failure);
    return std::move(*result);
  }
  // The audit lines so far.
  std::vector<json::value> lines() const {
    std::vector<json::value> all;
    const std::string text = read_file("/proc/self/fd/" + std::to_string(file_.get()));
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      all.push_back(json::parse(text.substr(at, end - at)));
      at = end + 1;
    }
    return all;
  }
  bool shows(const std::string& line) const {
    return ("\n" + metrics_.text()).find("\n" + line + "\n") != std::string::npos;
  }

  static Fd memory_file() { return Fd{::memfd_create("audit", MFD_CLOEXEC)}; }

  asio::io_context context_{1};
  FakeClock clock_;
  Fd file_ = memory_file();
  observe::Metrics metrics_;
  observe::AuditLog audit_{Fd{::dup(file_.get())}};
  RunQueue queue_{context_.get_executor(), RunQueueLimits{1, 1, 0}};
  RunBudget budget_{clock_, seconds{60}};
  Activity calls_{context_.get_executor()};
  Oversight oversight_{queue_, budget_, metrics_, audit_, calls_, clock_, "internet"};
  mcp::ActiveCall call_{call_of("token:alice")};
};

mcp::ToolResult result_of(json::object structured, bool is_error = false) {
  mcp::ToolResult result;
  result.structured = std::move(structured);
  result.is_error = is_error;
  return result;
}

TEST_F(OverseenToolTest, ARunIsCountedTimedAndAudited) {
  const auto tool = make("run_js", [this](json::object, mcp::Call&) -> Task<mcp::ToolResult> {
    clock_.advance(milliseconds{300});
    EXPECT_EQ(calls_.count(), 1u);
    EXPECT_EQ(queue_.running(), 1u);
    co_return result_of(
        {{"stdout", "12345"},
         {"stderr", "6"},
         {"exitCode", 0},
         {"timedOut", false},
         {"files",
          json::array{json::object{{"path", "a.txt"}, {"change", "created"}, {"uri", "x"}}}},
         {"network", json::array{json::object{
                         {"host", "example.com"}, {"verdict", "allowed"}, {"bytes", 7}}}}});
  });
  const RequestScope scope{std::make_shared<const RequestContext>(RequestContext{"r1", ""})};
  call(*tool, {{"code", "secret program"}, {"container_id", "js-sbx-1"}, {"network", "none"}});
  EXPECT_TRUE(shows("belljar_calls_total{tool=\"run_js\",outcome=\"ok\"} 1")) << metrics_.text();
  EXPECT_TRUE(shows("belljar_call_seconds_sum{tool=\"run_js\"} 0.3"));
  EXPECT_TRUE(shows("belljar_code_bytes_total 14"));
  EXPECT_TRUE(shows("belljar_output_bytes_total 6"));
  ASSERT_EQ(lines().size(), 1u);
  const json::value line = lines()[0];
  EXPECT_EQ(line.at("owner"), "alice");
  EXPECT_EQ(line.at("tool"), "run_js");
  EXPECT_EQ(line.at("outcome"), "ok");
  EXPECT_EQ(line.at("sandbox"), "js-sbx-1");
  EXPECT_EQ(line.at("codeSha256").as_string(), sha256_of("secret program"));
  EXPECT_EQ(line.at("network"), "none");
  EXPECT_EQ(line.at("durationMs"), 300);
  EXPECT_EQ(line.at("files").at(0).at("path"), "a.txt");
  EXPECT_EQ(line.at("reached").at(0).at("host"), "example.com");
  EXPECT_EQ(json::serialize(line).find("secret program"), std::string::npos);
  EXPECT_EQ(queue_.running(), 0u);
}

TEST_F(OverseenToolTest, EndsHaveTheirNames) {
  const auto outcome = [this](json::object structured, bool is_error) {
    const auto tool =
        make("run_js_ephemeral", [&](json::object, mcp::Call&) -> Task<mcp::ToolResult> {
          co_return result_of(std::move(structured), is_error);
        });
    call(*tool);
    return std::string{lines().back().at("outcome").as_string()};
  };
  EXPECT_EQ(outcome({{"exitCode", 1}, {"signal", nullptr}}, true), "failed");
  EXPECT_EQ(outcome({{"signal", "SIGKILL"}, {"timedOut", true}}, true), "timed_out");
  EXPECT_EQ(outcome({{"signal", "SIGKILL"}, {"oomKilled", true}}, true), "out_of_memory");
  EXPECT_EQ(outcome({{"signal", "SIGKILL"}}, true), "killed");
  EXPECT_EQ(outcome({{"background", json::object{}}}, false), "started");
  EXPECT_TRUE(shows("belljar_kills_total{reason=\"timed_out\"} 1"));
  EXPECT_TRUE(shows("belljar_kills_total{reason=\"out_of_memory\"} 1"));
}

TEST_F(OverseenToolTest, ErrorsGoOnAndAreAuditedToo) {
  const auto tool = make("sandbox_stop", [](json::object, mcp::Call&) -> Task<mcp::ToolResult> {
    fail(Code::not_found, "no such sandbox");
    co_return mcp::ToolResult{};
  });
  EXPECT_THROW(call(*tool), Error);
  EXPECT_EQ(lines().at(0).at("outcome"), "not_found");
  EXPECT_TRUE(shows("belljar_calls_total{tool=\"sandbox_stop\",outcome=\"not_found\"} 1"));
  EXPECT_EQ(calls_.count(), 0u);
}

TEST_F(OverseenToolTest, WhoHasUsedUpTheBudgetIsToldWhenToComeBack) {
  int runs = 0;
  const auto tool = make("run_js", [&](json::object, mcp::Call&) -> Task<mcp::ToolResult> {
    ++runs;
    clock_.advance(seconds{70});
    co_return result_of({});
  });
  call(*tool);
  const mcp::ToolResult refused = call(*tool);
  EXPECT_TRUE(refused.is_error);
  const std::string text{refused.content.at(0).at("text").as_string()};
  EXPECT_NE(text.find("60 s per minute"), std::string::npos) << text;
  EXPECT_NE(text.find("try again in 10.0 s"), std::string::npos) << text;
  EXPECT_NEAR(static_cast<double>(refused.meta.at("belljar/retryAfterMs").as_int64()), 10'000, 5);
  EXPECT_EQ(lines().at(1).at("outcome"), "refused");
  const auto other = make("sandbox_list", mcp::echo);  // no run, no limit
  EXPECT_FALSE(call(*other).is_error);
  clock_.advance(seconds{11});
  call(*tool);
  EXPECT_EQ(runs, 2);
}

Task<> swallow(Task<mcp::ToolResult> task, std::string& why) {
  try {
    co_await std::move(task);
  } catch (const Error& e) {
    why = e.what();
  }
}

Task<> call_twice(mcp::Tool& tool, mcp::Call& call, std::string& why) {
  TaskGroup group{co_await asio::this_coro::executor};
  std::string nothing;
  group.spawn("first", swallow(tool.call(json::object(), call), nothing));
  co_await swallow(tool.call(json::object(), call), why);
  co_await group.stop();
}

TEST_F(OverseenToolTest, TooManyAtOnceAreRefusedAndCancelledOnesAreAudited) {
  const auto tool = make("run_js", mcp::wait_forever);
  std::string why;
  asio::co_spawn(context_, call_twice(*tool, call_, why), [](const std::exception_ptr&) {});
  context_.restart();
  context_.run();
  EXPECT_NE(why.find("try again when some of them have ended"), std::string::npos) << why;
  ASSERT_EQ(lines().size(), 2u);
  EXPECT_EQ(lines()[0].at("outcome"), "exhausted");
  EXPECT_EQ(lines()[1].at("outcome"), "cancelled");
  EXPECT_EQ(queue_.running(), 0u);
}

}  // namespace
}  // namespace belljar::serve
