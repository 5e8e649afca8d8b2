#include "base/task.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <thread>

#include "base/task_group.h"
#include "base/testing.h"

namespace belljar {
namespace {

Task<int> value_after(milliseconds delay, int value) {
  co_await sleep_for(delay);
  co_return value;
}

Task<> never() {
  co_await sleep_for(std::chrono::hours{1});
}

Task<> wait_and_note(Event& event, int& count) {
  co_await event.wait();
  ++count;
}

TEST(WithTimeout, ReturnsTheResultOfATaskThatEndsInTime) {
  const auto result = run(with_timeout(std::chrono::hours{1}, value_after(milliseconds{0}, 7)));
  EXPECT_EQ(result, 7);
}

TEST(WithTimeout, ReturnsNothingAndCancelsATaskThatTakesTooLong) {
  EXPECT_FALSE(run(with_timeout(milliseconds{1}, never())));
}

Task<int> fails_at_once() {
  co_await sleep_for(milliseconds{0});
  fail(Code::denied, "no");
}

TEST(WithTimeout, HandsOnTheExceptionOfATaskAtOnceInsteadOfWaitingForTheLimit) {
  EXPECT_THROW(run(with_timeout(std::chrono::hours{1}, fails_at_once())), Error);
}

Task<> note_what_is_left(bool& returned) {
  co_await with_timeout(std::chrono::hours{1}, never());
  returned = true;
}

Task<bool> cancel_limited_work() {
  TaskGroup group{co_await asio::this_coro::executor};
  bool returned = false;
  group.spawn("limited", note_what_is_left(returned));
  co_await sleep_for(milliseconds{0});
  co_await group.stop();
  co_return returned;
}

TEST(WithTimeout, ItsCancellationIsNotTakenForTheEndOfTheTime) {
  EXPECT_FALSE(run(cancel_limited_work()));
}

Task<std::thread::id> thread_of_blocking_work() {
  auto id = [] { return std::this_thread::get_id(); };
  co_return co_await run_blocking(id);
}

TEST(RunBlocking, RunsOnAnotherThreadAndReturnsTheResult) {
  EXPECT_NE(run(thread_of_blocking_work()), std::this_thread::get_id());
}

Task<bool> catches_error_of_blocking_work() {
  auto work = []() -> int { fail(Code::not_found, "gone"); };
  try {
    co_await run_blocking(work);
  } catch (const Error& e) {
    co_return e.code() == Code::not_found;
  }
  co_return false;
}

TEST(RunBlocking, HandsTheExceptionToTheCaller) {
  EXPECT_TRUE(run(catches_error_of_blocking_work()));
}

Task<> work(std::promise<void>& started, int& ended) {
  auto function = [&started] {
    started.set_value();
    return 0;
  };
  co_await run_blocking(function);
  ++ended;
  co_await sleep_for(milliseconds{0});  // throws: the task was cancelled meanwhile
  ended = -1'000'000;
}

// The cancellation comes when the function ends.
Task<int> cancel_blocking_work(int times) {
  TaskGroup group{co_await asio::this_coro::executor};
  int ended = 0;
  for (int i = 0; i < times; ++i) {
    std::promise<void> started;
    const auto id = group.spawn("work", work(started, ended));
    started.get_future().wait();
    group.cancel(id);
    co_await group.finish();
  }
  co_return ended;
}

TEST(RunBlocking, IsNotInterruptedButTheTaskEndsAfterIt) {
  EXPECT_EQ(run(cancel_blocking_work(5000)), 5000);
}

Task<int> two_waiters_and_one_event() {
  const auto executor = co_await asio::this_coro::executor;
  Event event{executor};
  TaskGroup group{executor};
  int count = 0;
  group.spawn("first", wait_and_note(event, count));
  group.spawn("second", wait_and_note(event, count));
  co_await sleep_for(milliseconds{0});
  event.set();
  while (group.size() > 0) co_await sleep_for(milliseconds{0});
  co_await event.wait();  // already set: returns at once
  co_return count;
}

TEST(Event, WakesEverybodyWhoWaits) {
  EXPECT_EQ(run(two_waiters_and_one_event()), 2);
}

Task<size_t> stop_a_group() {
  TaskGroup group{co_await asio::this_coro::executor};
  group.spawn("one", never());
  const auto second = group.spawn("two", never());
  co_await sleep_for(milliseconds{0});
  group.cancel(second);
  group.cancel(second);  // ended: nothing happens
  co_await group.stop();
  co_return group.size();
}

TEST(TaskGroup, StopCancelsEveryTaskAndWaitsForIt) {
  EXPECT_EQ(run(stop_a_group()), 0u);
}

}  // namespace
}  // namespace belljar
