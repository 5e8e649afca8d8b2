#pragma once

#include <memory>
#include <string>

#include "base/task.h"
#include "files/changes.h"

namespace belljar::files {

// A ChangeTracker for the event loop: any number of runs may use it at the same time. A small tree
// is looked at where it stands, which takes microseconds; a large one on the pool of threads, so
// that whoever else waits for the loop does not wait for a disk.
class TrackedFiles {
 public:
  // The directory `name` in `parent`, whatever that is at the time of each look.
  TrackedFiles(Directory parent, std::string name);
  // The directory itself.
  explicit TrackedFiles(Directory root);

  // The moment before a program starts, and what changed since.
  Task<ChangeTracker::Mark> mark();
  Task<Changes> changes(ChangeTracker::Mark mark);

 private:
  struct State;
  template <class Result, class Function>
  Task<Result> look(Function function);

  std::shared_ptr<State> state_;
};

}  // namespace belljar::files
