#include "serve/run_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/task_group.h"
#include "base/testing.h"

namespace belljar::serve {
namespace {

using testing::ElementsAre;

// Runs begin in an order, and end when the test says so.
class Runs {
 public:
  Runs(asio::any_io_executor executor, RunQueueLimits limits)
      : executor_{executor}, queue{executor, limits}, group_{executor} {}

  TaskGroup::Id start(const std::string& owner, const std::string& name) {
    return group_.spawn(name, run_one(owner, name));
  }
  Task<> end(const std::string& name) {
    ends_.at(name)->set();
    while (ends_.contains(name)) co_await turn();
    co_await turn();
  }
  Task<> stop() { return group_.stop(); }
  void cancel(TaskGroup::Id id) { group_.cancel(id); }
  Task<> turn() { return sleep_for(milliseconds{0}); }

  std::vector<std::string> begun;
  std::vector<std::string> refused;

 private:
  Task<> run_one(std::string owner, std::string name) {
    Event end{executor_};
    try {
      const RunQueue::Turn its_turn = co_await queue.wait(owner);
      begun.push_back(name);
      ends_[name] = &end;
      co_await end.wait();
    } catch (const Error& e) {
      refused.push_back(e.what());
    }
    ends_.erase(name);
  }

  asio::any_io_executor executor_;

 public:
  RunQueue queue;

 private:
  std::map<std::string, Event*> ends_;
  TaskGroup group_;
};

Task<> two_owners() {
  Runs runs{co_await asio::this_coro::executor, RunQueueLimits{1, 1, 10}};
  for (const char* name : {"a1", "a2", "a3", "a4"}) runs.start("a", name);
  for (const char* name : {"b1", "b2"}) runs.start("b", name);
  EXPECT_EQ(runs.queue.waiting(), 5u);
  for (const char* name : {"a1", "a2", "b1", "a3", "b2", "a4"}) co_await runs.end(name);
  EXPECT_THAT(runs.begun, ElementsAre("a1", "a2", "b1", "a3", "b2", "a4"));
  EXPECT_EQ(runs.queue.running(), 0u);
  EXPECT_EQ(runs.queue.waiting(), 0u);
  co_await runs.stop();
}

TEST(RunQueue, OwnersTakeTurnsHoweverManyRunsOneHas) {
  run(two_owners());
}

Task<> one_owner_full() {
  Runs runs{co_await asio::this_coro::executor, RunQueueLimits{3, 2, 10}};
  for (const char* name : {"a1", "a2", "a3"}) runs.start("a", name);
  runs.start("b", "b1");
  EXPECT_THAT(runs.begun, ElementsAre("a1", "a2", "b1"));
  co_await runs.end("b1");
  EXPECT_THAT(runs.begun, ElementsAre("a1", "a2", "b1"));  // there is room, but not for a
  co_await runs.end("a1");
  EXPECT_THAT(runs.begun, ElementsAre("a1", "a2", "b1", "a3"));
  co_await runs.stop();
}

TEST(RunQueue, AnOwnerAtItsLimitWaitsWhileOthersPass) {
  run(one_owner_full());
}

Task<> too_many() {
  Runs runs{co_await asio::this_coro::executor, RunQueueLimits{1, 1, 2}};
  for (const char* name : {"a1", "a2", "a3", "a4"}) runs.start("a", name);
  runs.start("b", "b1");
  EXPECT_EQ(runs.refused.size(), 1u);
  EXPECT_NE(runs.refused.at(0).find("2 more waiting"), std::string::npos);
  EXPECT_EQ(runs.queue.waiting(), 3u);
  co_await runs.stop();
  EXPECT_EQ(runs.queue.running(), 0u);
  EXPECT_EQ(runs.queue.waiting(), 0u);
}

TEST(RunQueue, TooManyWaitingAreRefusedAndOthersAreNot) {
  run(too_many());
}

Task<> nobody_may_wait() {
  Runs runs{co_await asio::this_coro::executor, RunQueueLimits{3, 2, 0}};
  for (const char* name : {"a1", "a2", "a3"}) runs.start("a", name);
  EXPECT_THAT(runs.begun, ElementsAre("a1", "a2"));
  EXPECT_EQ(runs.refused.size(), 1u);
  co_await runs.stop();
}

TEST(RunQueue, WhereNobodyMayWaitThereIsStillRoomToRun) {
  run(nobody_may_wait());
}

Task<> cancelled_while_waiting() {
  Runs runs{co_await asio::this_coro::executor, RunQueueLimits{1, 1, 10}};
  runs.start("a", "a1");
  const auto b = runs.start("b", "b1");
  runs.start("c", "c1");
  runs.cancel(b);
  co_await runs.turn();
  EXPECT_EQ(runs.queue.waiting(), 1u);
  co_await runs.end("a1");
  EXPECT_THAT(runs.begun, ElementsAre("a1", "c1"));
  co_await runs.stop();
  EXPECT_EQ(runs.queue.running(), 0u);
}

TEST(RunQueue, ACancelledWaiterTakesNobodysTurn) {
  run(cancelled_while_waiting());
}

}  // namespace
}  // namespace belljar::serve
