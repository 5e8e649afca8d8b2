#include "base/request_context.h"

#include <gtest/gtest.h>

#include "base/task_group.h"
#include "base/testing.h"

namespace belljar {
namespace {

std::string current_id() {
  return current_request() ? current_request()->id : "none";
}

std::shared_ptr<const RequestContext> request(std::string id) {
  return std::make_shared<const RequestContext>(RequestContext{std::move(id), ""});
}

// Notes the current request before, between and after waits of every kind.
Task<> work(std::vector<std::string>& seen, Event& go) {
  seen.push_back(current_id());
  co_await go.wait();
  seen.push_back(current_id());
  auto on_thread = [] { return 1; };
  co_await run_blocking(on_thread);
  seen.push_back(current_id());
  co_await sleep_for(milliseconds{0});
  seen.push_back(current_id());
}

Task<> run_three(std::vector<std::string>& a, std::vector<std::string>& b,
                 std::vector<std::string>& nobody) {
  const auto executor = co_await asio::this_coro::executor;
  Event go{executor};
  TaskGroup group{executor};
  group.spawn("a", in_request(request("a"), work(a, go)));
  group.spawn("b", in_request(request("b"), work(b, go)));
  {
    const RequestScope scope{request("c")};
    group.spawn("nobody", work(nobody, go));
  }
  EXPECT_EQ(current_id(), "none");
  go.set();
  co_await group.finish();
  EXPECT_EQ(current_id(), "none");
}

TEST(RequestContext, FollowsItsTaskAcrossWaitsAndNobodyElse) {
  std::vector<std::string> a;
  std::vector<std::string> b;
  std::vector<std::string> nobody;
  run(run_three(a, b, nobody));
  EXPECT_EQ(a, (std::vector<std::string>{"a", "a", "a", "a"}));
  EXPECT_EQ(b, (std::vector<std::string>{"b", "b", "b", "b"}));
  // Background work may begin within a request, but does not belong to it once it waits.
  EXPECT_EQ(std::vector<std::string>(nobody.begin() + 1, nobody.end()),
            (std::vector<std::string>{"none", "none", "none"}));
}

Task<> sleep_long(bool& cancelled) {
  try {
    co_await sleep_for(std::chrono::hours{1});
  } catch (const boost::system::system_error&) {
    cancelled = true;
    throw;
  }
}

Task<> cancel_one(bool& cancelled) {
  TaskGroup group{co_await asio::this_coro::executor};
  const auto id = group.spawn("sleep", in_request(request("a"), sleep_long(cancelled)));
  group.cancel(id);
  co_await group.finish();
}

TEST(RequestContext, TasksOfARequestCanBeCancelled) {
  bool cancelled = false;
  run(cancel_one(cancelled));
  EXPECT_TRUE(cancelled);
}

Task<> throw_something() {
  co_await sleep_for(milliseconds{0});
  fail(Code::invalid, "something");
}

TEST(RequestContext, ItsTasksErrorsReachWhoeverWaits) {
  EXPECT_THROW(run(in_request(request("a"), throw_something())), Error);
}

TEST(RequestContext, TraceparentsAreCheckedAsTheRecommendationSays) {
  const std::string good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_TRUE(is_traceparent(good));
  EXPECT_TRUE(is_traceparent("01" + good.substr(2) + "-more"));
  for (const std::string& bad :
       {std::string{}, good + "-more", "ff" + good.substr(2), good.substr(0, 54), good + "0",
        std::string{"00-00000000000000000000000000000000-00f067aa0ba902b7-01"},
        std::string{"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"},
        std::string{"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"},
        "01" + good.substr(2) + "-\n"}) {
    EXPECT_FALSE(is_traceparent(bad)) << bad;
  }
}

}  // namespace
}  // namespace belljar
