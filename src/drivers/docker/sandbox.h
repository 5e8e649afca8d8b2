#pragma once

#include <memory>

#include "drivers/docker/containers.h"
#include "sandbox/driver.h"

namespace belljar::docker {

// A container as a sandbox.
class DockerSandbox final : public Sandbox {
 public:
  DockerSandbox(Containers& containers, std::unique_ptr<Container> container,
                std::shared_ptr<const Isolation> isolation);
  ~DockerSandbox() override;

  Task<std::unique_ptr<Process>> start(Command command, OutputSink& sink) override;
  int workspace() const override;
  Task<> mount_packages(PackageDirectories directories) override;
  const Isolation& isolation() const override { return *isolation_; }
  CLibrary c_library() const override { return c_library_; }
  Task<Fd> connect(uint16_t port) override;
  Task<Fd> listen() override;
  Gate take_gate() override { return {}; }
  Task<> destroy() override;

 private:
  std::shared_ptr<AgentClient> agent() const;  // Error{not_found} if there is none any more

  Containers& containers_;
  std::unique_ptr<Container> container_;  // null: stopped
  std::shared_ptr<const Isolation> isolation_;
  CLibrary c_library_;
  std::shared_ptr<bool> stopped_ = std::make_shared<bool>(false);
  uint64_t next_program_ = 1;
  uint32_t packages_ = 0;  // how often some were mounted
  bool mounting_ = false;
};

}  // namespace belljar::docker
