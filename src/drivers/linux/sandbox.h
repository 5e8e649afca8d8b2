#pragma once

#include <memory>

#include "drivers/linux/launcher_client.h"
#include "sandbox/driver.h"

namespace belljar::linux_driver {

class LinuxSandbox final : public Sandbox {
 public:
  // The sandbox `id` exists. `pin_cpus`: its programs do not know cgroups, so the processors they
  // see are limited too.
  LinuxSandbox(std::shared_ptr<LauncherClient> client, uint64_t id, bool pin_cpus);
  ~LinuxSandbox() override;

  Task<std::unique_ptr<Process>> start(Command command, OutputSink& sink) override;
  Task<> destroy() override;

  // False once it was stopped, or killed from outside.
  bool alive() const { return !*stopped_; }

 private:
  std::shared_ptr<LauncherClient> client_;
  uint64_t id_;
  bool pin_cpus_;
  uint64_t next_process_ = 1;
  std::shared_ptr<bool> stopped_ = std::make_shared<bool>(false);
};

}  // namespace belljar::linux_driver
