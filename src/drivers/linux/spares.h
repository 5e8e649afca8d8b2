#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/task_group.h"
#include "drivers/linux/demand.h"
#include "drivers/linux/sandbox.h"

namespace belljar::linux_driver {

// Sandboxes made ahead, empty and locked, so that a caller need not wait for one. Each serves one
// caller. Only what was asked for before is kept ready: of each kind as many as callers wanted at
// once during the last minute, and some more; none after minutes without a caller. They are made,
// replaced and dropped in the background, one at a time, and callers come first.
class Spares {
 public:
  struct Bounds {
    size_t least = 0;     // of each kind in use; 0 turns it off
    uint64_t memory = 0;  // what all together may take
    uint64_t each = 1;    // what one takes
    size_t processors = 1;
  };
  static constexpr size_t kMost = 64;  // of all kinds: many siblings make each other slow
  static constexpr size_t kMostKinds = 8;
  static constexpr std::chrono::minutes kForget{5};      // without a caller: there are none
  static constexpr std::chrono::seconds kLookAgain{10};  // whether fewer would do
  // A caller that just got a sandbox is about to start a program in it, which needs the same locks
  // of the kernel and comes first; so do programs that keep all processors busy, unless they do so
  // for long.
  static constexpr milliseconds kPause{4};
  static constexpr milliseconds kYoung{500};
  static constexpr milliseconds kPatience{50};
  // A Node.js made ahead takes more processor time in all than one made when it is asked for. So
  // while there were more callers than this within kYoung, spares are empty.
  static constexpr size_t kFewCallersPerProcessor = 10;

  enum class Content { empty, node };
  using Make = std::function<Task<std::unique_ptr<LinuxSandbox>>(SandboxSpec, Content)>;
  using IsStale = std::function<bool(const LinuxSandbox&)>;

  // `make` makes one; one that `is_stale` is replaced when there are few callers.
  Spares(asio::any_io_executor executor, Clock& clock, Bounds bounds, Make make, IsStale is_stale);

  // Says that a caller is being served until what is returned is let go of.
  std::shared_ptr<const void> begin_use();

  // One that fits, or nothing.
  std::unique_ptr<LinuxSandbox> take(const SandboxSpec& spec);

  // Says that one of this kind is in use: more are made in the background.
  void refill(const SandboxSpec& spec);

  // Says that some may have become stale.
  void look_again();

  // How many are ready, of all kinds.
  size_t ready() const;

  // To be awaited before destruction; the spares are then gone.
  Task<> stop();

 private:
  struct Kind {
    std::string key;
    SandboxSpec spec;
    Demand demand;
    std::list<std::unique_ptr<LinuxSandbox>> ready;
    bool failed = false;     // the last attempt did; there is another when there is a caller
    bool no_better = false;  // the last one made was stale itself
  };
  struct Use {
    Clock::Time begin;
    std::weak_ptr<const void> use;
  };
  Kind& kind_of(const SandboxSpec& spec);
  Kind* find(const std::string& key);
  size_t wanted(const Kind& kind) const;
  std::vector<size_t> share_out() const;
  void forget_old_uses();
  bool is_busy();
  bool has_many_callers();
  bool has_to_replace(const Kind& kind) const;
  void wake();
  Task<> work();
  Task<> wait_for_quiet();
  Task<> add(std::string key);
  Kind* next_to_add();
  bool drop_one();
  void drop(Kind& kind);
  Task<> tend();

  Clock& clock_;
  Bounds bounds_;
  Make make_;
  IsStale is_stale_;
  std::list<Kind> kinds_;  // the one used last is first
  std::deque<Use> uses_;   // the young ones
  uint64_t looks_ = 0;     // how often look_again() was called
  bool working_ = false;
  bool tending_ = false;
  TaskGroup tasks_;
};

}  // namespace belljar::linux_driver
