#include "packages/shared_work.h"

#include <gmock/gmock.h>

#include "base/testing.h"

namespace belljar::packages {
namespace {

using testing::ElementsAre;

// Work that goes on until it is told to end, or cancelled.
struct Job {
  explicit Job(const asio::any_io_executor& executor) : go{executor}, ended{executor} {}

  Task<> run(const InstallProgress& progress) {
    ++starts;
    progress("started");
    try {
      co_await go.wait();
      progress("going on");
    } catch (const boost::system::system_error&) {
      was_cancelled = true;
      ended.set();
      throw;
    }
    ended.set();
    if (fails) fail(Code::denied, "no");
  }
  SharedWork::Work work() {
    return [this](const InstallProgress& progress) { return run(progress); };
  }

  Event go;
  Event ended;
  int starts = 0;
  bool was_cancelled = false;
  bool fails = false;
};

InstallProgress into(std::vector<std::string>& messages) {
  return [&messages](std::string_view message) { messages.emplace_back(message); };
}

Task<> all_share_one() {
  const auto executor = co_await asio::this_coro::executor;
  SharedWork shared{executor};
  Job job{executor};
  TaskGroup callers{executor};
  std::vector<std::string> first, second;
  callers.spawn("first", shared.join("x", job.work(), into(first)));
  callers.spawn("second", shared.join("x", job.work(), into(second)));
  job.go.set();
  co_await callers.finish();
  EXPECT_EQ(job.starts, 1);
  EXPECT_THAT(first, ElementsAre("started", "going on"));
  EXPECT_THAT(second, ElementsAre("started", "going on"));
  co_await shared.join("x", job.work(), into(second));
  EXPECT_EQ(job.starts, 2);  // the first one has ended
  co_await shared.stop();
}

TEST(SharedWork, IsDoneOnceForAllWhoWaitAndAllGetTheProgress) {
  run(all_share_one());
}

Task<> one_leaves() {
  const auto executor = co_await asio::this_coro::executor;
  SharedWork shared{executor};
  Job job{executor};
  TaskGroup callers{executor};
  const InstallProgress silent;
  const auto leaving = callers.spawn("leaving", shared.join("x", job.work(), silent));
  callers.spawn("staying", shared.join("x", job.work(), silent));
  callers.cancel(leaving);
  while (callers.size() > 1) co_await asio::post(executor, asio::use_awaitable);
  job.go.set();
  co_await callers.finish();
  EXPECT_FALSE(job.was_cancelled);
  EXPECT_EQ(job.starts, 1);
  co_await shared.stop();
}

TEST(SharedWork, GoesOnWhenOneOfThoseWhoWaitIsCancelled) {
  run(one_leaves());
}

Task<> all_leave() {
  const auto executor = co_await asio::this_coro::executor;
  SharedWork shared{executor};
  Job job{executor};
  Job later{executor};
  TaskGroup callers{executor};
  const InstallProgress silent;
  callers.spawn("one", shared.join("x", job.work(), silent));
  callers.spawn("two", shared.join("x", job.work(), silent));
  co_await callers.stop();
  // Whoever comes after that is not served by the work that is ending.
  callers.spawn("three", shared.join("x", later.work(), silent));
  co_await job.ended.wait();
  EXPECT_TRUE(job.was_cancelled);
  later.go.set();
  co_await callers.finish();
  EXPECT_EQ(later.starts, 1);
  EXPECT_FALSE(later.was_cancelled);
  co_await shared.stop();
}

TEST(SharedWork, IsCancelledWhenNobodyWaitsAnyMore) {
  run(all_leave());
}

Task<int> failures(SharedWork& shared, Job& job, int& count) {
  const InstallProgress silent;
  try {
    co_await shared.join("x", job.work(), silent);
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no");
    ++count;
  }
  co_return count;
}

Task<> all_fail() {
  using namespace asio::experimental::awaitable_operators;
  const auto executor = co_await asio::this_coro::executor;
  SharedWork shared{executor};
  Job job{executor};
  job.fails = true;
  job.go.set();
  int count = 0;
  co_await (failures(shared, job, count) && failures(shared, job, count));
  EXPECT_EQ(count, 2);
  co_await shared.stop();
}

TEST(SharedWork, FailsForAllWhoWait) {
  run(all_fail());
}

Task<> one_cannot_be_told() {
  const auto executor = co_await asio::this_coro::executor;
  SharedWork shared{executor};
  Job job{executor};
  job.go.set();
  const InstallProgress broken = [](std::string_view) { fail(Code::unavailable, "gone"); };
  co_await shared.join("x", job.work(), broken);
  co_await shared.stop();
}

TEST(SharedWork, OutlivesAProgressThatThrows) {
  run(one_cannot_be_told());
}

}  // namespace
}  // namespace belljar::packages
