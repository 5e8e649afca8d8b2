#pragma once

#include <cstddef>

namespace belljar::network {

// How many connections, pairs of UDP endpoints and DNS queries one sandbox has at a time, of each.
constexpr size_t kMostAtATime = 128;

// What stands in the way of one more: what its sandbox, or all of them together, may have.
enum class Limit { none, own, shared };

// The descriptors that the ways out of all sandboxes may hold together, of those that this process
// may have: one sandbox must not use up what others need, nor all of them what belljar itself
// needs.
class Budget {
 public:
  explicit Budget(size_t most) : most_{most} {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // Of something that needs `count` descriptors, for a sandbox that has `open` of its kind.
  Limit limit(size_t open, size_t count) const {
    if (open >= kMostAtATime) return Limit::own;
    return used_ + count <= most_ ? Limit::none : Limit::shared;
  }
  size_t used() const { return used_; }

  // So many of them, for as long as it lives. Whoever takes a share has asked limit() before: it
  // is there to count, not to refuse.
  class Share {
   public:
    Share(Budget& budget, size_t count) : budget_{budget}, count_{count} {
      budget_.used_ += count_;
    }
    ~Share() { budget_.used_ -= count_; }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

   private:
    Budget& budget_;
    size_t count_;
  };

 private:
  size_t most_;
  size_t used_ = 0;
};

// Counts something as long as it lives.
class Counted {
 public:
  explicit Counted(size_t& count) : count_{++count} {}
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --count_; }

 private:
  size_t& count_;
};

}  // namespace belljar::network
