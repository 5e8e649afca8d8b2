#include "packages/parallel.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/testing.h"

namespace belljar::packages {
namespace {

// What in_parallel() throws if the work of that number fails, and all others wait for ever.
Task<std::string> error_of(size_t failing, size_t width) {
  Event never{co_await asio::this_coro::executor};
  std::function<Task<>(size_t)> work = [&never, failing](size_t i) -> Task<> {
    if (i == failing) fail(Code::unavailable, "number {}", i);
    return never.wait();
  };
  try {
    co_await in_parallel(width, std::move(work), width);
  } catch (const Error& error) {
    co_return error.what();
  }
  co_return "no error";
}

TEST(InParallel, ThrowsWhatFailedAndNotThatOthersWereCancelled) {
  for (const size_t width : {1u, 2u, 5u, 8u})
    for (size_t i = 0; i < width; ++i)
      EXPECT_EQ(run(error_of(i, width)), fmt::format("number {}", i)) << width;
}

Task<size_t> most_at_once(size_t count, size_t width) {
  size_t now = 0;
  size_t most = 0;
  size_t done = 0;
  std::function<Task<>(size_t)> work = [&](size_t) -> Task<> {
    most = std::max(most, ++now);
    co_await sleep_for(milliseconds{0});
    --now;
    ++done;
  };
  co_await in_parallel(count, std::move(work), width);
  EXPECT_EQ(done, count);
  co_return most;
}

TEST(InParallel, DoesEverythingSoManyAtATime) {
  EXPECT_EQ(run(most_at_once(0, 4)), 0u);
  EXPECT_EQ(run(most_at_once(3, 8)), 3u);
  EXPECT_EQ(run(most_at_once(100, 5)), 5u);
}

}  // namespace
}  // namespace belljar::packages
