#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "drivers/linux/launcher_client.h"
#include "drivers/linux/parking.h"
#include "drivers/linux/zygotes.h"
#include "sandbox/driver.h"

namespace belljar::linux_driver {

class LinuxSandbox final : public Sandbox {
 public:
  // The sandbox `id` exists, or was just asked for.
  LinuxSandbox(std::shared_ptr<LauncherClient> client, uint64_t id);
  ~LinuxSandbox() override;

  Task<std::unique_ptr<Process>> start(Command command, OutputSink& sink) override;
  int workspace() const override { return *stopped_ ? -1 : workspace_.get(); }
  Task<> mount_packages(PackageDirectories directories) override;
  const Isolation& isolation() const override { return *isolation_; }
  Task<Fd> connect(uint16_t port) override;
  Task<Fd> listen() override;
  Gate take_gate() override { return std::move(gate_); }
  Task<> destroy() override;

  // When it is complete, and before anybody else has it.
  void set_workspace(Fd workspace) { workspace_ = std::move(workspace); }
  void set_gate(Gate gate) { gate_ = std::move(gate); }
  void set_isolation(std::shared_ptr<const Isolation> isolation) {
    isolation_ = std::move(isolation);
  }

  // It has a user now. Keeps `use` until it is stopped.
  void give(std::shared_ptr<const void> use);

  // Lets programs of Node.js be copies of a zygote of this kind.
  void set_copies(Zygotes* zygotes, Parking* parking, NodeKind kind) {
    zygotes_ = zygotes;
    parking_ = parking;
    kind_ = kind;
  }
  const NodeKind& kind() const { return kind_; }

  // Programs are started in this way or not at all.
  void only(StartWay way) { only_ = way; }

  // Has the next program's process made ahead, if that is possible.
  Task<> park();

  // True if one made now would be better: with a parked process, or with one of a newer zygote.
  bool is_stale() const;

  // False once it was stopped, or killed from outside.
  bool alive() const { return !*stopped_; }

 private:
  Task<Fd> make_socket(uint32_t flags);
  StartWay choose_way(const Command& command) const;
  bool can_park() const;
  std::function<void()> after_program();
  Task<std::unique_ptr<Process>> start_as(Command command, OutputSink& sink, StartWay way);

  std::shared_ptr<LauncherClient> client_;
  uint64_t id_;
  Fd workspace_;
  std::shared_ptr<const Isolation> isolation_;
  Gate gate_;
  uint64_t next_process_ = 1;
  std::shared_ptr<const void> use_;
  Zygotes* zygotes_ = nullptr;
  Parking* parking_ = nullptr;
  NodeKind kind_{};
  std::optional<StartWay> only_;
  Parking::Place parked_ = std::make_shared<uint64_t>(0);
  bool is_executed_ = false;  // the one that is parked, if any
  unsigned copies_ = 0;       // programs that were started as one
  uint64_t parked_from_ = 0;  // the zygote
  std::shared_ptr<bool> stopped_ = std::make_shared<bool>(false);
};

}  // namespace belljar::linux_driver
