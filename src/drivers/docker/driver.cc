#include "drivers/docker/driver.h"

#include <sys/utsname.h>

#include "base/log.h"
#include "drivers/docker/engine_check.h"
#include "drivers/docker/sandbox.h"

namespace belljar::docker {

DockerDriver::DockerDriver(const asio::any_io_executor& executor, DockerSettings settings)
    : runtime_{settings.containers.runtime},
      engine_{std::move(settings.engine), std::move(settings.registry_credentials)},
      containers_{executor, engine_, std::move(settings.containers)},
      warm_{executor, clock_, containers_, settings.warm} {}

Task<> DockerDriver::get_ready() {
  if (version_) co_return;
  EngineVersion version = co_await engine_.connect();
  const EngineInfo info = co_await engine_.info();
  check_runtime(version, info, runtime_);
  const std::string runtime = runtime_.empty() ? info.default_runtime : runtime_;
  const bool has_own_kernel = belljar::docker::has_own_kernel(info, runtime);
  features_ = check_engine(version, info, has_own_kernel);
  Isolation isolation = isolation_of(features_);
  isolation.boundary = fmt::format("{} {}, {}", version.product, version.version, runtime);
  isolation_ = std::make_shared<const Isolation>(std::move(isolation));
  containers_.know_engine(version, has_own_kernel);
  version_ = std::move(version);
}

Task<Capabilities> DockerDriver::probe() {
  co_await get_ready();
  Capabilities capabilities;
  capabilities.driver = "docker";
  capabilities.boundary = isolation_->boundary;
  capabilities.features = features_;
  utsname host{};
  if (::uname(&host) == 0) capabilities.kernel.release = host.release;
  co_return capabilities;
}

Task<std::unique_ptr<Sandbox>> DockerDriver::create(SandboxSpec spec) {
  co_await get_ready();
  if (isolation_->grade == Isolation::Grade::refused) {
    const auto unmet = find_unmet(features_, {});
    fail(Code::unavailable, "this engine cannot make sandboxes: {}: {}", unmet.front().detail,
         unmet.front().fix);
  }
  if (spec.image.id.empty()) spec.image.id = co_await containers_.find_image(spec.image.name);
  std::unique_ptr<Container> container = warm_.take(spec);
  if (!container) container = co_await containers_.make(spec);
  warm_.refill(spec);
  co_return std::make_unique<DockerSandbox>(containers_, std::move(container), isolation_);
}

Task<> DockerDriver::recover() {
  co_await get_ready();
  co_await containers_.remove_orphans();
}

Task<> DockerDriver::shut_down() {
  co_await warm_.stop();
  if (!version_) co_return;  // there never was a container
  try {
    co_await containers_.stop();
  } catch (const Error& e) {
    log::warning("containers may be left, until the next start: {}", e.what());
  }
}

}  // namespace belljar::docker
