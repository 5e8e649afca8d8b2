#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "drivers/linux/copy_battery.h"
#include "drivers/linux/copy_verdicts.h"
#include "drivers/linux/launcher_client.h"
#include "drivers/linux/sandbox.h"

namespace belljar::linux_driver {

// Decides whether programs may be copies of a Node.js: only if every program of the battery does
// the same as a copy and executed. That is tried once per binary, machine and belljar, and
// remembered in the data directory. Where nothing can be remembered, it is tried by each belljar.
class CopyChecks {
 public:
  // Makes a sandbox in which programs are started as LinuxSandbox::only() says.
  using Make = std::function<Task<std::unique_ptr<LinuxSandbox>>(SandboxSpec)>;

  // A check waits for `pause` first: nobody waits for it, and whoever made it necessary comes
  // first. An empty directory: nothing is remembered.
  CopyChecks(asio::any_io_executor executor, std::shared_ptr<LauncherClient> client,
             LauncherFiles own, Make make, std::string data_directory, milliseconds pause);

  // True if the spec's Node.js may be copied; known at once, or tried now. Of the spec image and
  // limits count. Says by one warning that it may not. Error if it cannot be tried.
  Task<bool> passed(SandboxSpec spec);

  // What is known; nothing is tried, and no large file is read.
  CopyVerdict known(const std::string& prefix) const;

  // Tries it now. If that is not possible, the verdict is `unknown`, and says why.
  Task<CopyVerdict> check(SandboxSpec spec);

 private:
  struct Turn;
  Task<std::unique_ptr<Turn>> take_turn();
  Task<CopyVerdict> try_out(SandboxSpec spec);
  Task<RunResult> run_apart(SandboxSpec spec, const CopyProgram& program, StartWay way);
  Task<> want_zygote(NodeKind kind);
  Task<std::string> hash_of(const Fd& file);
  Task<CopyKey> key_of(const Fd& node);
  Task<> remember(CopyKey key, CopyVerdict verdict);
  std::string known_hash(const Fd& file, const CopyRecord& kept) const;

  asio::any_io_executor executor_;
  std::shared_ptr<LauncherClient> client_;
  LauncherFiles own_;
  Make make_;
  std::string record_path_;
  milliseconds pause_;
  CopyRecord found_;  // by this process
  std::set<std::string> told_;
  std::shared_ptr<Event> busy_;  // while there is a check: its end
};

}  // namespace belljar::linux_driver
