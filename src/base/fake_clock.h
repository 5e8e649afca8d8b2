#pragma once

#include <list>

#include "base/clock.h"

namespace belljar {

// A clock for unit tests: stands still until advance() is called. Tasks that sleep on it wake with
// the next turn of the loop after their time has come.
class FakeClock final : public Clock {
 public:
  Time now() const override { return now_; }
  WallTime wall() const override { return WallTime{} + (now_ - Time{}); }

  Task<> sleep_until(Time time) override {
    if (time <= now_) co_return;
    Event due{co_await asio::this_coro::executor};
    const Sleeping sleeping{*this, time, due};
    co_await due.wait();
  }

  void advance(std::chrono::steady_clock::duration by) {
    now_ += by;
    for (const Sleeper& sleeper : sleepers_) {
      if (sleeper.time <= now_) sleeper.due->set();
    }
  }

  size_t sleepers() const { return sleepers_.size(); }

 private:
  struct Sleeper {
    Time time;
    Event* due;
  };

  // Keeps a sleeper on the list for as long as its task sleeps, cancelled or not.
  class Sleeping {
   public:
    Sleeping(FakeClock& clock, Time time, Event& due)
        : clock_{clock}, at_{clock.sleepers_.insert(clock.sleepers_.end(), Sleeper{time, &due})} {}
    ~Sleeping() { clock_.sleepers_.erase(at_); }
    Sleeping(const Sleeping&) = delete;
    Sleeping& operator=(const Sleeping&) = delete;

   private:
    FakeClock& clock_;
    std::list<Sleeper>::iterator at_;
  };

  Time now_{};
  std::list<Sleeper> sleepers_;
};

}  // namespace belljar
