#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <string>

#include "base/task.h"

namespace belljar::serve {

struct RunQueueLimits {
  size_t running = 64;    // of all owners together
  size_t per_owner = 16;  // that run at once
  size_t waiting = 256;   // of one owner; more are refused
};

// Lets a limited number of runs happen at once. Those that must wait are taken owner by owner in
// turn, so that whoever has a thousand of them delays nobody else by more than one; runs of one
// owner begin in their order.
class RunQueue {
 public:
  // The right to run; given back by destruction. The queue must outlive it.
  class Turn {
   public:
    Turn(Turn&& other) noexcept
        : queue_{std::exchange(other.queue_, nullptr)}, owner_{std::move(other.owner_)} {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (queue_ != nullptr) queue_->give_back(owner_);
    }

   private:
    friend class RunQueue;
    Turn(RunQueue& queue, std::string owner) : queue_{&queue}, owner_{std::move(owner)} {}

    RunQueue* queue_;
    std::string owner_;
  };

  RunQueue(asio::any_io_executor executor, RunQueueLimits limits);

  // Waits for a turn. Error{exhausted} at once if too many of this owner wait already. Can be
  // cancelled.
  Task<Turn> wait(std::string owner);

  size_t running() const { return running_; }
  size_t waiting() const;

 private:
  struct Waiter {
    explicit Waiter(const asio::any_io_executor& executor) : granted{executor} {}
    Event granted;
  };
  struct Owner {
    size_t running = 0;
    std::list<Waiter*> waiting;
  };
  class Waiting;

  void check_line(const std::string& name) const;
  void give_back(const std::string& owner);
  void hand_out();
  bool grant_next();
  void forget_if_idle(const std::string& owner);

  asio::any_io_executor executor_;
  RunQueueLimits limits_;
  size_t running_ = 0;
  std::map<std::string, Owner> owners_;  // those who run or wait
  std::list<std::string> order_;         // of those who wait: the next one first
};

}  // namespace belljar::serve
