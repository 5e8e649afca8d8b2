#include "serve/run_budget.h"

#include <algorithm>
#include <cmath>

namespace belljar::serve {

RunBudget::RunBudget(const Clock& clock, std::chrono::seconds per_minute)
    : clock_{clock}, per_minute_{per_minute} {}

double RunBudget::left_now(const Account& account) const {
  const auto full = static_cast<double>(per_minute_.count());
  const std::chrono::duration<double> passed = clock_.now() - account.at;
  return std::min(full, account.left + passed.count() * full / 60);
}

std::chrono::milliseconds RunBudget::wait_of(const std::string& owner) const {
  const auto at = accounts_.find(owner);
  if (at == accounts_.end()) return std::chrono::milliseconds{0};
  const double left = left_now(at->second);
  if (left > 0) return std::chrono::milliseconds{0};
  // A moment more than nothing: at exactly 0 the next run would have to wait again.
  const double seconds = (1e-3 - left) * 60 / static_cast<double>(per_minute_.count());
  return std::chrono::milliseconds{static_cast<int64_t>(std::ceil(seconds * 1000))};
}

void RunBudget::charge(const std::string& owner, std::chrono::steady_clock::duration used) {
  if (per_minute_.count() == 0) return;
  constexpr size_t kMany = 1024;
  if (accounts_.size() >= kMany) forget_the_full();
  const auto full = static_cast<double>(per_minute_.count());
  Account& account = accounts_.try_emplace(owner, Account{full, clock_.now()}).first->second;
  account.left = left_now(account) - std::chrono::duration<double>(used).count();
  account.at = clock_.now();
}

void RunBudget::forget_the_full() {
  const auto full = static_cast<double>(per_minute_.count());
  std::erase_if(accounts_,
                [this, full](const auto& entry) { return left_now(entry.second) >= full; });
}

}  // namespace belljar::serve
