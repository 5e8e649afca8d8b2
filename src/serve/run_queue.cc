#include "serve/run_queue.h"

#include <algorithm>

namespace belljar::serve {

// Keeps a waiter in its owner's line for as long as its task waits, cancelled or not.
class RunQueue::Waiting {
 public:
  Waiting(RunQueue& queue, const std::string& owner, Waiter& waiter)
      : queue_{queue}, owner_{owner}, waiter_{waiter} {
    auto& line = queue_.owners_[owner_].waiting;
    if (line.empty()) queue_.order_.push_back(owner_);
    line.push_back(&waiter_);
  }
  ~Waiting() {
    if (waiter_.granted.is_set()) return;  // has left the line
    auto& line = queue_.owners_[owner_].waiting;
    line.remove(&waiter_);
    if (line.empty()) queue_.order_.remove(owner_);
    queue_.forget_if_idle(owner_);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  RunQueue& queue_;
  const std::string& owner_;
  Waiter& waiter_;
};

RunQueue::RunQueue(asio::any_io_executor executor, RunQueueLimits limits)
    : executor_{std::move(executor)}, limits_{limits} {}

// Refuses who would have to wait behind too many of their own.
void RunQueue::check_line(const std::string& name) const {
  const auto at = owners_.find(name);
  const Owner owner = at != owners_.end() ? at->second : Owner{};
  const bool may_run = running_ < limits_.running && owner.running < limits_.per_owner;
  if ((may_run && owner.waiting.empty()) || owner.waiting.size() < limits_.waiting) return;
  fail(Code::exhausted,
       "you have {} runs under way and {} more waiting, which is the limit; try again when some of "
       "them have ended",
       owner.running, owner.waiting.size());
}

Task<RunQueue::Turn> RunQueue::wait(std::string owner) {
  check_line(owner);
  Waiter waiter{executor_};
  {
    const Waiting waiting{*this, owner, waiter};
    hand_out();
    if (!waiter.granted.is_set()) co_await waiter.granted.wait();
  }
  co_return Turn{*this, std::move(owner)};
}

size_t RunQueue::waiting() const {
  size_t count = 0;
  for (const auto& [name, owner] : owners_) count += owner.waiting.size();
  return count;
}

void RunQueue::give_back(const std::string& owner) {
  --running_;
  --owners_[owner].running;
  hand_out();
  forget_if_idle(owner);
}

void RunQueue::hand_out() {
  while (running_ < limits_.running && grant_next()) {
  }
}

bool RunQueue::grant_next() {
  const auto may_run = [this](const std::string& name) {
    return owners_[name].running < limits_.per_owner;
  };
  const auto next = std::find_if(order_.begin(), order_.end(), may_run);
  if (next == order_.end()) return false;
  Owner& owner = owners_[*next];
  Waiter* const waiter = owner.waiting.front();
  owner.waiting.pop_front();
  ++owner.running;
  ++running_;
  if (owner.waiting.empty()) {
    order_.erase(next);
  } else {
    order_.splice(order_.end(), order_, next);  // whoever had a turn waits for all others
  }
  waiter->granted.set();
  return true;
}

void RunQueue::forget_if_idle(const std::string& owner) {
  const auto at = owners_.find(owner);
  if (at != owners_.end() && at->second.running == 0 && at->second.waiting.empty())
    owners_.erase(at);
}

}  // namespace belljar::serve
