#pragma once

#include <memory>

#include "app/config.h"
#include "base/clock.h"
#include "drivers/linux/launcher_process.h"
#include "packages/registry.h"
#include "runtime/runtimes.h"
#include "sandbox/driver.h"
#include "sandbox/sandboxes.h"
#include "tools/files_directory.h"
#include "tools/images.h"

namespace belljar::app {

// The objects of a running belljar, and who knows whom: the only place that names a concrete
// driver.
class Wiring final : public tools::Images {
 public:
  Wiring(const asio::any_io_executor& executor, const Config& config,
         linux_driver::LauncherProcess launcher);

  Task<Image> resolve(std::string name, std::function<void(std::string_view)> progress) override;

  Driver& driver() { return *driver_; }
  Sandboxes& sandboxes() { return sandboxes_; }
  SystemClock& clock() { return clock_; }
  tools::FilesDirectory* files() { return files_.get(); }  // nullptr: none is configured
  packages::Registry& registry() { return registry_; }

  // Ends every sandbox and the driver. To be awaited before destruction.
  Task<> shut_down();

 private:
  SystemClock clock_;
  std::unique_ptr<tools::FilesDirectory> files_;
  std::unique_ptr<Driver> driver_;
  Sandboxes sandboxes_;
  packages::Registry registry_;
  runtime::Runtimes runtimes_;
};

// Starts the launcher; to be called before there are threads. Says what is missing if belljar may
// not make sandboxes.
linux_driver::LauncherProcess start_driver();

// Runs a task on an event loop of its own to its end. SIGINT and SIGTERM cancel it.
int run_to_end(const std::function<Task<int>(asio::any_io_executor)>& main);

}  // namespace belljar::app
