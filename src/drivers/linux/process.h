#pragma once

#include <functional>
#include <memory>

#include "drivers/linux/launcher_client.h"
#include "sandbox/driver.h"

namespace belljar::linux_driver {

// A program in a sandbox, seen from outside: what it prints, and how it ended.
class LinuxProcess final : public Process {
 public:
  // `output` and `errors` are the read ends of its pipes. `stopped` becomes true when the sandbox
  // is destroyed.
  LinuxProcess(LauncherClient& client, uint64_t sandbox, uint64_t id, Fd output, Fd errors,
               OutputSink& sink, std::shared_ptr<const bool> stopped,
               const asio::any_io_executor& executor);
  ~LinuxProcess() override;

  void set_start(StartWay way) { start_ = way; }
  // To be called when it has ended, if it ends before this object does.
  void set_after(std::function<void()> after);
  Task<Outcome> wait() override;
  void kill(Outcome::Kind why) override;

 private:
  struct State;
  Outcome outcome() const;

  LauncherClient& client_;
  uint64_t sandbox_;
  uint64_t id_;
  StartWay start_ = StartWay::exec;
  std::shared_ptr<State>
      state_;  // shared with handlers of the loop that may run once more after we are gone
};

}  // namespace belljar::linux_driver
