#pragma once

#include <map>
#include <memory>
#include <string>

#include "drivers/linux/launcher_client.h"
#include "drivers/linux/spares.h"
#include "sandbox/driver.h"

namespace belljar::linux_driver {

// Sandboxes made by this host's kernel: namespaces, cgroups, seccomp, Landlock. All that needs
// rights is done by the launcher; this side only asks.
class LinuxDriver final : public Driver {
 public:
  // Keeps `spares` sandboxes of each kind in use ready for the next caller. `certificates` (PEM)
  // are those whom programs trust besides the usual ones.
  LinuxDriver(const asio::any_io_executor& executor, LauncherProcess launcher, size_t spares = 0,
              std::string certificates = "");

  Task<Capabilities> probe() override;
  const Isolation& isolation() const override { return isolation_; }
  Task<std::unique_ptr<Sandbox>> create(SandboxSpec spec) override;
  Task<> recover() override;
  Task<> shut_down() override;

 private:
  struct PreparedImage;
  Task<std::shared_ptr<PreparedImage>> prepare(std::string prefix);
  Task<std::unique_ptr<LinuxSandbox>> make(SandboxSpec spec, uint32_t flags);
  Task<std::unique_ptr<LinuxSandbox>> make_or_explain(SandboxSpec spec);
  void learn_from(const launcher::Reply& reply);

  asio::any_io_executor executor_;
  std::shared_ptr<LauncherClient> client_;
  std::map<std::string, std::shared_ptr<PreparedImage>> images_;  // by prefix directory
  launcher::Reply facts_{};  // what the launcher last said about the host
  bool works_ = false;       // a sandbox was made
  Isolation isolation_;
  uint32_t next_image_ = 1;
  uint64_t next_sandbox_ = 1;
  std::string certificates_;
  Spares spares_;
};

}  // namespace belljar::linux_driver
