#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "drivers/docker/containers.h"
#include "drivers/docker/engine.h"
#include "drivers/docker/warm_containers.h"
#include "sandbox/driver.h"

namespace belljar::docker {

struct DockerSettings {
  std::unique_ptr<EngineHttp> engine;
  ContainerSettings containers;
  size_t warm = 0;  // containers of each kind in use that are made ahead
  std::shared_ptr<const RegistryCredentials> registry_credentials;  // null: pulls are nobody's
};

// Sandboxes that are containers of a Docker or Podman engine on this host. The engine makes and
// removes them; what happens inside is done by a program of ours (agent/), so that programs start
// and talk as they do with the native driver.
class DockerDriver final : public Driver {
 public:
  DockerDriver(const asio::any_io_executor& executor, DockerSettings settings);

  Task<Capabilities> probe() override;
  Task<std::unique_ptr<Sandbox>> create(SandboxSpec spec) override;
  Task<> recover() override;
  Task<> shut_down() override;

  // Asks the engine what it can do, once; one that was not there is asked again.
  Task<> get_ready();
  Engine& engine() { return engine_; }

  // Says what an image is, so that the engine need not be asked again to make a container of it.
  void know_image(const ImageDetails& image) { containers_.know_image(image); }

  // Containers that wait for a user.
  size_t warm() const { return warm_.ready(); }

 private:
  std::string runtime_;
  Engine engine_;
  SystemClock clock_;
  Containers containers_;
  WarmContainers warm_;
  std::optional<EngineVersion> version_;  // once it has answered
  std::vector<Feature> features_;
  std::shared_ptr<const Isolation> isolation_;  // likewise
};

}  // namespace belljar::docker
