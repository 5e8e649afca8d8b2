#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/task_group.h"
#include "drivers/linux/launcher_client.h"
#include "sandbox/command.h"
#include "sandbox/start_way.h"

namespace belljar::linux_driver {

// What makes two zygotes different.
struct NodeKind {
  uint32_t image = 0;
  launcher::SandboxLimits limits{};
};

// True if the program may be a copy of a Node.js that has started already: nothing in its command
// or environment changes how Node.js starts.
bool can_be_copy(const Command& command);

// The zygotes that the launcher has been asked for, one per kind. All copies of one share its
// layout of memory, so one that is old or has made many copies is renewed: its successor starts
// in the background and takes its place when it is ready. Nobody waits for that. One that nobody
// uses ends.
class Zygotes {
 public:
  static constexpr std::chrono::minutes kMostAge{10};
  static constexpr std::chrono::minutes kMostIdle{10};
  static constexpr std::chrono::minutes kPause{1};  // after a renewal that failed
  static constexpr size_t kMostKinds = 8;           // those used last

  // True if copies of that kind are as good as executed programs. An Error counts as no.
  using Check = std::function<Task<bool>(NodeKind)>;

  // One is renewed after `most_copies`.
  Zygotes(asio::any_io_executor executor, std::shared_ptr<LauncherClient> client, Clock& clock,
          NodeStart way, uint64_t most_copies, Check check);
  ~Zygotes();

  // `handler` is called when one has become ready, be it the first of its kind or not.
  void on_ready(std::function<void()> handler) { on_ready_ = std::move(handler); }

  bool may_park() const { return way_ == NodeStart::parked || way_ == NodeStart::automatic; }
  // What waits for a program is a Node.js that was executed: there is no zygote of this kind, and
  // there will be none.
  bool must_execute(const NodeKind& kind) const;
  bool are_required() const { return way_ == NodeStart::parked || way_ == NodeStart::parked_exec; }

  // The number of the one that copies are made of now, which no other ever has; 0: none is ready.
  uint64_t current(const NodeKind& kind) const;
  bool are_ready(const NodeKind& kind) const { return current(kind) != 0; }

  // One is about to be used: starts it in the background, unless there is one.
  void want(const NodeKind& kind);

  // A copy of it becomes a program. Those that only wait do not count: a successor has them
  // replaced.
  void count_copy(const NodeKind& kind);

  // Waits for it, if the way demands it.
  Task<> settle(NodeKind kind);

  // To be awaited before destruction.
  Task<> stop();

 private:
  struct Zygote;
  Task<> start(std::shared_ptr<Zygote> zygote);
  Task<> renew(std::shared_ptr<Zygote> zygote);
  Task<uint64_t> ask_for_one(NodeKind kind, uint32_t flags);
  Task<> tend();
  void renew_if_due(const std::shared_ptr<Zygote>& zygote);
  void retire(const std::string& key);
  void make_room();
  void died(uint64_t number);
  static std::string key_of(const NodeKind& kind);

  asio::any_io_executor executor_;
  std::shared_ptr<LauncherClient> client_;
  Clock& clock_;
  NodeStart way_;
  uint64_t most_copies_;
  Check check_;
  std::function<void()> on_ready_;
  std::map<std::string, std::shared_ptr<Zygote>> zygotes_;
  bool tending_ = false;
  TaskGroup tasks_;
};

}  // namespace belljar::linux_driver
