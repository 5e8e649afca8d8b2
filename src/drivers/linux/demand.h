#pragma once

#include <cstddef>
#include <deque>

#include "base/clock.h"

namespace belljar::linux_driver {

// How many sandboxes of one kind would have had to be ready lately so that no caller found none.
class Demand {
 public:
  // What is taken within this time has to be ready at its beginning, unless more are made
  // meanwhile.
  static constexpr milliseconds kBurst{100};
  static constexpr std::chrono::seconds kLately{60};

  explicit Demand(Clock::Time now) : last_{now} {}

  // Somebody wants one.
  void taken(Clock::Time now);

  // Another one is ready.
  void made();

  // The most that were missing at any moment lately.
  size_t peak(Clock::Time now) const;

  Clock::Time last() const { return last_; }

 private:
  struct Peak {
    Clock::Time time;
    size_t height;
  };
  Clock::Time last_;
  std::deque<Clock::Time> open_;  // those taken within kBurst for which no other was made
  std::deque<Peak> peaks_;        // each is lower than the ones before it
};

}  // namespace belljar::linux_driver
