#pragma once

#include <memory>

#include "drivers/linux/launcher_client.h"
#include "sandbox/driver.h"

namespace belljar::linux_driver {

class LinuxSandbox final : public Sandbox {
 public:
  // The sandbox `id` exists, or was just asked for.
  LinuxSandbox(std::shared_ptr<LauncherClient> client, uint64_t id);
  ~LinuxSandbox() override;

  Task<std::unique_ptr<Process>> start(Command command, OutputSink& sink) override;
  int workspace() const override { return *stopped_ ? -1 : workspace_.get(); }
  Task<Fd> connect(uint16_t port) override;
  Task<Fd> listen() override;
  Gate take_gate() override { return std::move(gate_); }
  Task<> destroy() override;

  // When it is complete, and before anybody else has it.
  void set_workspace(Fd workspace) { workspace_ = std::move(workspace); }
  void set_gate(Gate gate) { gate_ = std::move(gate); }

  // False once it was stopped, or killed from outside.
  bool alive() const { return !*stopped_; }

 private:
  Task<Fd> make_socket(uint32_t flags);

  std::shared_ptr<LauncherClient> client_;
  uint64_t id_;
  Fd workspace_;
  Gate gate_;
  uint64_t next_process_ = 1;
  std::shared_ptr<bool> stopped_ = std::make_shared<bool>(false);
};

}  // namespace belljar::linux_driver
