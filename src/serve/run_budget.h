#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/clock.h"

namespace belljar::serve {

// How many seconds per minute an owner's programs may run. A run that was allowed to begin is never
// cut short; what it used too much is paid back by waiting.
class RunBudget {
 public:
  // `per_minute` 0: as much as they like. `clock` must outlive this.
  RunBudget(const Clock& clock, std::chrono::seconds per_minute);

  // Zero if this owner may begin a run, otherwise how long to wait.
  std::chrono::milliseconds wait_of(const std::string& owner) const;

  void charge(const std::string& owner, std::chrono::steady_clock::duration used);

  std::chrono::seconds per_minute() const { return per_minute_; }
  size_t remembered() const { return accounts_.size(); }

 private:
  struct Account {
    double left = 0;  // seconds; below 0 after a run that took longer than was left
    Clock::Time at{};
  };
  double left_now(const Account& account) const;
  void forget_the_full();

  const Clock& clock_;
  std::chrono::seconds per_minute_;
  std::map<std::string, Account> accounts_;  // of those who have not all of it
};

}  // namespace belljar::serve
