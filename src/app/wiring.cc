#include "app/wiring.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>

#include "app/requirements.h"
#include "base/posix.h"
#include "base/task_group.h"
#include "drivers/both/driver.h"
#include "drivers/docker/images.h"
#include "drivers/linux/driver.h"
#include "packages/search.h"
#include "tools/sandbox_options.h"

namespace belljar::app {

namespace {

linux_driver::LinuxDriver::Ahead ahead_of(const Config& config) {
  return {config.spare_sandboxes, config.spare_memory, config.node_start, config.zygote_copies};
}

// The certificate that programs are to trust because of secrets; "" if there are none.
std::string authority_of(const Foundation& foundation) {
  return foundation.secrets ? foundation.secrets->authority() : "";
}

docker::DockerSettings docker_settings_of(const Config& config, Foundation& foundation) {
  docker::DockerSettings settings;
  settings.engine = std::move(foundation.engine);
  settings.containers = {foundation.agent,      foundation.data_dir,
                         foundation.data_path,  {foundation.own_user, foundation.own_group},
                         config.docker.runtime, authority_of(foundation)};
  settings.warm = config.docker.warm;
  settings.registry_credentials = foundation.registry_credentials;
  return settings;
}

// Those that this host has itself, whatever an engine has by that name.
bool is_runtime(std::string_view image) {
  return image == "node" || image.starts_with("node:");
}

std::string packages_path(const Foundation& foundation, const Config& config) {
  return foundation.data_dir + "/" + config.packages_directory();
}

}  // namespace

Wiring::Wiring(const asio::any_io_executor& executor, const Config& config, Foundation foundation)
    : executor_{executor},
      foundation_{std::move(foundation)},
      settings_{config.tools},
      driver_{make_driver(executor, config)},
      outside_{executor, clock_, foundation_.secrets.get()},
      sandboxes_{executor, *driver_, config.sessions, clock_},
      runtimes_{foundation_.data_dir, *foundation_.registry},
      package_rules_{config.tools.packages},
      owner_stores_{packages_path(foundation_, config)},
      store_{config.packages_owner.empty()
                 ? packages::OwnerStore{packages_path(foundation_, config), Fd{}}
                 : owner_stores_.open(config.packages_owner)},
      packages_{make_packages(store_.path)} {}

Wiring::~Wiring() = default;

std::unique_ptr<Driver> Wiring::make_driver(const asio::any_io_executor& executor,
                                            const Config& config) {
  switch (config.driver) {
    case DriverName::native: return make_native_driver(executor, config);
    case DriverName::docker: return make_engine_driver(executor, config);
    case DriverName::both: break;
  }
  return std::make_unique<BothDrivers>(make_native_driver(executor, config),
                                       make_engine_driver(executor, config));
}

std::unique_ptr<Driver> Wiring::make_engine_driver(const asio::any_io_executor& executor,
                                                   const Config& config) {
  auto driver =
      std::make_unique<docker::DockerDriver>(executor, docker_settings_of(config, foundation_));
  using Pull = docker::ImagePolicy::Pull;
  docker::ImagePolicy policy{config.docker.images,
                             config.docker.pull ? Pull::missing : Pull::never};
  engine_images_ = std::make_unique<docker::DockerImages>(*driver, std::move(policy));
  engine_ = driver.get();
  return driver;
}

std::unique_ptr<Driver> Wiring::make_native_driver(const asio::any_io_executor& executor,
                                                   const Config& config) {
  auto driver = std::make_unique<linux_driver::LinuxDriver>(
      executor, std::move(foundation_.launcher), ahead_of(config), authority_of(foundation_),
      foundation_.data_dir);
  native_ = driver.get();
  return driver;
}

bool Wiring::is_alive() const {
  return native_ == nullptr || native_->is_alive();
}

Task<> Wiring::check_host(std::vector<std::string> required) {
  // An engine that is not there is better told now than to the first caller. The launcher, which is
  // there, recovers by itself.
  if (engine_ != nullptr) co_await engine_->recover();
  co_await require_features(*driver_, std::move(required));
}

packages::PackageSets Wiring::make_packages(const std::string& directory) {
  return {executor_,
          *foundation_.registry,
          clock_,
          directory,
          package_rules_,
          [this](std::string name) { return packages::near_names(registry(), std::move(name)); }};
}

std::unique_ptr<OwnPackages> Wiring::packages_of_owner(const std::string& owner) {
  packages::OwnerStore store = owner_stores_.open(owner);
  const std::string path = store.path;
  // make_unique() would move the sets, which stay where they are.
  return std::unique_ptr<OwnPackages>{new OwnPackages{std::move(store), make_packages(path)}};
}

Task<> Wiring::forget_packages_of_owners(size_t most) {
  const size_t removed = co_await owner_stores_.remove_oldest(most);
  if (removed > 0) log::info("packages of {} owners were removed, who came longest ago", removed);
}

Task<std::vector<CopiesOfNode>> Wiring::copies(TryCopies when) {
  std::vector<CopiesOfNode> list;
  if (native_ == nullptr) co_return list;
  linux_driver::CopyChecks& checks = native_->copy_checks();
  const std::vector<runtime::Installed> installed = runtimes_.list();  // it may change meanwhile
  for (const runtime::Installed& node : installed) {
    CopiesOfNode copies{to_string(node.version), checks.known(node.prefix)};
    if (when == TryCopies::now) {
      SandboxSpec spec;
      spec.image.prefix = node.prefix;
      spec.limits = tools::usual_limits(settings_, "node:" + copies.version);
      copies.verdict = co_await checks.check(std::move(spec));
    }
    list.push_back(std::move(copies));
  }
  co_return list;
}

Task<Image> Wiring::resolve(std::string name, std::function<void(std::string_view)> progress) {
  const bool is_engines = engine_ != nullptr && (native_ == nullptr || !is_runtime(name));
  if (is_engines) return engine_images_->resolve(std::move(name), std::move(progress));
  return runtimes_.resolve(std::move(name), std::move(progress));
}

tools::FilesDirectory* Wiring::files_of_owner(const std::string& name) {
  const auto at = foundation_.files_of_owners.find(name);
  return at != foundation_.files_of_owners.end() ? at->second.get() : nullptr;
}

tools::Context Wiring::context(tools::Settings settings, const OwnerParts& parts) {
  settings.downloads_dir = foundation_.data_dir + "/downloads";
  return {sandboxes_, *this,       registry(),          parts.packages, outside_,
          clock_,     parts.files, std::move(settings), parts.previews};
}

Task<> Wiring::shut_down() {
  co_await sandboxes_.stop_all();
  co_await packages_.stop();
  co_await outside_.stop();
  co_await driver_->shut_down();
}

void check_timers(asio::io_context& context) {
  bool rang = false;
  asio::steady_timer timer{context, milliseconds{0}};
  timer.async_wait([&rang](const boost::system::error_code& error) { rang = !error; });
  context.run_for(std::chrono::seconds{1});
  context.restart();
  if (!rang) fail(Code::exhausted, "the kernel watches no timer: there is no memory for it");
}

Task<int> with_wiring(const Config& config, Foundation foundation,
                      std::function<Task<int>(Wiring&)> work) {
  Wiring wiring{co_await asio::this_coro::executor, config, std::move(foundation)};
  int status = 0;
  std::exception_ptr failure;
  try {
    status = co_await work(wiring);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await asio::this_coro::reset_cancellation_state();
  co_await wiring.shut_down();
  if (failure) std::rethrow_exception(failure);
  co_return status;
}

int run_to_end(const std::function<Task<int>(asio::any_io_executor)>& main) {
  asio::io_context context{1};
  check_timers(context);
  asio::cancellation_signal cancel;
  asio::signal_set signals{context, SIGINT, SIGTERM};
  int caught = 0;
  signals.async_wait([&cancel, &caught](const boost::system::error_code& error, int signal) {
    if (error) return;
    caught = signal;
    cancel.emit(asio::cancellation_type::terminal);
  });
  int status = 0;
  std::exception_ptr failure;
  auto on_end = [&status, &failure, &signals](const std::exception_ptr& error, int result) {
    status = result;
    failure = error;
    signals.cancel();
  };
  asio::co_spawn(context, main(context.get_executor()),
                 asio::bind_cancellation_slot(cancel.slot(), on_end));
  context.run();
  if (caught != 0 && (!failure || is_cancellation(failure))) return 128 + caught;
  if (failure) std::rethrow_exception(failure);
  return status;
}

}  // namespace belljar::app
