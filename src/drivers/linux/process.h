#pragma once

#include <functional>
#include <memory>

#include "drivers/linux/launcher_client.h"
#include "sandbox/driver.h"
#include "sandbox/running_program.h"

namespace belljar::linux_driver {

// A program that the launcher has started, or is about to.
class LinuxProcess final : public Process {
 public:
  LinuxProcess(LauncherClient& client, uint64_t sandbox, uint64_t id,
               std::shared_ptr<RunningProgram> program, StartWay start);
  ~LinuxProcess() override;

  // To be called when it has ended, if it ends before this object does.
  void set_after(std::function<void()> after) { *after_ = std::move(after); }
  Task<Outcome> wait() override;
  void kill(Outcome::Kind why) override;

 private:
  LauncherClient& client_;
  uint64_t sandbox_;
  uint64_t id_;
  StartWay start_;
  std::shared_ptr<RunningProgram> program_;
  std::shared_ptr<std::function<void()>> after_ = std::make_shared<std::function<void()>>();
};

}  // namespace belljar::linux_driver
