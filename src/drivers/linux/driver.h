#pragma once

#include <map>
#include <memory>
#include <string>

#include "drivers/linux/copy_checks.h"
#include "drivers/linux/launcher_client.h"
#include "drivers/linux/spares.h"
#include "drivers/linux/zygotes.h"
#include "sandbox/driver.h"

namespace belljar::linux_driver {

// Sandboxes made by this host's kernel: namespaces, cgroups, seccomp, Landlock. All that needs
// rights is done by the launcher; this side only asks.
class LinuxDriver final : public Driver {
 public:
  // What is made ahead; nothing unless told.
  struct Ahead {
    size_t spares = 0;          // of each kind in use, at least
    uint64_t spare_memory = 0;  // for all of them together
    NodeStart node_start = NodeStart::exec;
    uint64_t zygote_copies = 10'000;  // before a zygote is renewed
  };

  // `certificates` (PEM) are those whom programs trust besides the usual ones. Below
  // `data_directory` it keeps what it finds out about this machine; empty: nothing is kept.
  LinuxDriver(const asio::any_io_executor& executor, LauncherProcess launcher);
  LinuxDriver(const asio::any_io_executor& executor, LauncherProcess launcher, const Ahead& ahead,
              std::string certificates, std::string data_directory);

  Task<Capabilities> probe() override;
  Task<std::unique_ptr<Sandbox>> create(SandboxSpec spec) override;
  Task<> recover() override;
  Task<> shut_down() override;

  // False once create() can only fail, because the launcher has ended.
  bool is_alive() const { return !client_->is_lost(); }

  // Whether programs may be copies of the image's Node.js.
  CopyChecks& copy_checks() { return copy_checks_; }

 private:
  struct PreparedImage;
  Task<std::shared_ptr<PreparedImage>> prepare(std::string prefix);
  Task<std::unique_ptr<LinuxSandbox>> make(SandboxSpec spec, uint32_t flags,
                                           Spares::Content content);
  Task<std::unique_ptr<LinuxSandbox>> make_without_copies(SandboxSpec spec, uint32_t flags);
  Task<bool> may_copy(NodeKind kind);
  Task<std::unique_ptr<LinuxSandbox>> make_or_explain(SandboxSpec spec);
  void learn_from(const launcher::Reply& reply);

  asio::any_io_executor executor_;
  LauncherFiles launcher_files_;
  std::shared_ptr<LauncherClient> client_;
  std::map<std::string, std::shared_ptr<PreparedImage>> images_;  // by prefix directory
  launcher::Reply facts_{};                     // what the launcher last said about the host
  bool works_ = false;                          // a sandbox was made
  std::shared_ptr<const Isolation> isolation_;  // once a sandbox was made
  uint32_t next_image_ = 1;
  uint64_t next_sandbox_ = 1;
  std::string certificates_;
  SystemClock clock_;
  CopyChecks copy_checks_;
  Zygotes zygotes_;
  Parking parking_;
  Spares spares_;
};

}  // namespace belljar::linux_driver
