#pragma once

#include <chrono>

#include "base/task.h"

namespace belljar {

// Where code that keeps deadlines takes the time from, so that a test can turn hours into an
// instant (base/fake_clock.h). Limits of a single operation use with_timeout() instead.
class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using WallTime = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;

  // Never goes back. For deadlines and durations.
  virtual Time now() const = 0;

  // The calendar's time, to show to people; may jump.
  virtual WallTime wall() const = 0;

  // Returns once now() has reached `time`. Can be cancelled.
  virtual Task<> sleep_until(Time time) = 0;
};

// The time of the machine.
class SystemClock final : public Clock {
 public:
  Time now() const override { return std::chrono::steady_clock::now(); }
  WallTime wall() const override { return std::chrono::system_clock::now(); }
  Task<> sleep_until(Time time) override {
    asio::steady_timer timer{co_await asio::this_coro::executor, time};
    co_await timer.async_wait(asio::use_awaitable);
  }
};

}  // namespace belljar
