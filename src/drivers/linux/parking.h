#pragma once

#include <list>
#include <memory>

#include "base/task_group.h"
#include "drivers/linux/launcher_client.h"

namespace belljar::linux_driver {

// Processes of Node.js that wait in sandboxes, each for the next program of its sandbox.
class Parking {
 public:
  // The number of the process that waits in a sandbox; 0: there is none.
  using Place = std::shared_ptr<uint64_t>;

  Parking(asio::any_io_executor executor, std::shared_ptr<LauncherClient> client);

  // Makes one, if that is possible: a copy of a zygote, or with kExecuted one that is executed.
  Task<> park(uint64_t sandbox, uint64_t process, Place place, uint32_t flags = 0);

  // The same in the background, for a session. Only the sessions used last have one.
  void park_later(uint64_t sandbox, uint64_t process, Place place);

  // A spare sandbox with one has a user now. Most begin a program at once; of those that do not,
  // the last few keep it.
  void given_away(uint64_t sandbox, Place place);

  // Ends those of sessions.
  void clear();

  // To be awaited before destruction.
  Task<> stop();

 private:
  struct Waiting {
    uint64_t sandbox;
    uint64_t process;
    Place place;
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  };
  Task<> park_in_session(Waiting waiting);
  void end(const Waiting& waiting);
  static void forget_used(std::list<Waiting>& list);

  std::shared_ptr<LauncherClient> client_;
  std::list<Waiting> sessions_;  // the one used last is last
  std::list<Waiting> given_;     // in the order of that
  TaskGroup tasks_;
};

}  // namespace belljar::linux_driver
