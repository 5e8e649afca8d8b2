#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "base/task.h"

namespace belljar {

// Owns tasks that run in the background. Nothing is ever detached: whoever starts work keeps the
// group, and must `co_await stop()` before the group is destroyed.
//
//   TaskGroup group{executor};
//   const TaskGroup::Id id = group.spawn("serve call 7", serve(call));
//   group.cancel(id);
//   co_await group.stop();
class TaskGroup {
 public:
  using Id = uint64_t;

  explicit TaskGroup(asio::any_io_executor executor);
  ~TaskGroup();  // aborts the program if a task still runs: its frame may refer to what is being
                 // destroyed
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Runs the task up to its first wait before returning. A task that ends with an exception is
  // logged under `name`, unless it was cancelled.
  Id spawn(std::string name, Task<> task);

  // Makes the operation that the task waits for throw. Does nothing if the task has ended.
  void cancel(Id id);

  size_t size() const { return running_.size(); }

  // Waits until all tasks, those spawned meanwhile included, have ended by themselves.
  Task<> finish();

  // Cancels all tasks and waits until they have ended.
  Task<> stop();

 private:
  struct Running;
  void ended(Id id, const std::string& name, const std::exception_ptr& error);

  asio::any_io_executor executor_;
  std::map<Id, std::shared_ptr<Running>> running_;
  Id next_ = 1;
  asio::steady_timer empty_;  // cancelled whenever a task ends
};

// True if the exception says that the task was cancelled rather than that it failed.
bool is_cancellation(const std::exception_ptr& error);

}  // namespace belljar
