#pragma once

#include <functional>
#include <memory>

#include "app/config.h"
#include "app/foundation.h"
#include "base/clock.h"
#include "drivers/linux/copy_verdicts.h"
#include "network/outside.h"
#include "packages/owner_stores.h"
#include "runtime/runtimes.h"
#include "sandbox/driver.h"
#include "sandbox/sandboxes.h"
#include "tools/images.h"
#include "tools/tools.h"

namespace belljar::docker {
class DockerDriver;
class DockerImages;
}  // namespace belljar::docker
namespace belljar::linux_driver {
class LinuxDriver;
}

namespace belljar::app {

// Whether programs may be copies of an installed Node.js.
struct CopiesOfNode {
  std::string version;
  linux_driver::CopyVerdict verdict;
};

// Packages that one owner has for themselves.
struct OwnPackages {
  packages::OwnerStore store;
  packages::PackageSets sets;  // to be stopped before destruction
};

// What differs from one owner to the next.
struct OwnerParts {
  tools::FilesDirectory* files;  // that programs share with their owner; nullptr: none
  packages::PackageSets& packages;
  network::Previews* previews = nullptr;  // nullptr: there are none
};

enum class TryCopies { now, no };  // no: only what is known is told

// The objects of a running belljar, and who knows whom: the only place that names a concrete
// driver.
class Wiring final : public tools::Images {
 public:
  Wiring(const asio::any_io_executor& executor, const Config& config, Foundation foundation);
  ~Wiring() override;

  Task<Image> resolve(std::string name, std::function<void(std::string_view)> progress) override;

  Driver& driver() { return *driver_; }
  bool is_alive() const;  // false: no sandbox can be made any more
  Sandboxes& sandboxes() { return sandboxes_; }
  SystemClock& clock() { return clock_; }
  tools::FilesDirectory* files() { return foundation_.files.get(); }  // nullptr: none is configured
  tools::FilesDirectory* files_of_owner(const std::string& name);     // the same
  network::Outside& outside() { return outside_; }
  packages::Registry& registry() { return *foundation_.registry; }
  packages::PackageSets& packages() { return packages_; }

  // Those of one owner of `belljar serve`, by their key. This must outlive them.
  std::unique_ptr<OwnPackages> packages_of_owner(const std::string& owner);

  // Removes those of owners who did not come for longest, until there are no more than `most`.
  Task<> forget_packages_of_owners(size_t most);

  // What tools work with, under these settings.
  tools::Context context(tools::Settings settings, const OwnerParts& parts);
  tools::Context context(tools::Settings settings) {
    return context(std::move(settings), OwnerParts{files(), packages_});
  }

  // Error{unavailable} if there can be no sandboxes, or if something required is not enforced. Also
  // removes what a killed belljar left.
  Task<> check_host(std::vector<std::string> required);

  // Removes what killed installations left. For the background.
  Task<> tidy() { return runtimes_.tidy(); }

  // For each installed Node.js, if this host's kernel makes the sandboxes.
  Task<std::vector<CopiesOfNode>> copies(TryCopies when);

  // Ends every sandbox and the driver. To be awaited before destruction.
  Task<> shut_down();

 private:
  std::unique_ptr<Driver> make_driver(const asio::any_io_executor& executor, const Config& config);
  std::unique_ptr<Driver> make_engine_driver(const asio::any_io_executor& executor,
                                             const Config& config);
  std::unique_ptr<Driver> make_native_driver(const asio::any_io_executor& executor,
                                             const Config& config);
  packages::PackageSets make_packages(const std::string& directory);

  asio::any_io_executor executor_;
  SystemClock clock_;
  Foundation foundation_;
  tools::Settings settings_;                             // if nobody has others
  linux_driver::LinuxDriver* native_ = nullptr;          // the driver, or a part of it, or null
  docker::DockerDriver* engine_ = nullptr;               // likewise
  std::unique_ptr<docker::DockerImages> engine_images_;  // its, or null
  std::unique_ptr<Driver> driver_;                       // sets these three
  network::Outside outside_;
  Sandboxes sandboxes_;
  runtime::Runtimes runtimes_;
  packages::PackageRules package_rules_;
  packages::OwnerStores owner_stores_;
  packages::OwnerStore store_;  // that of packages_
  packages::PackageSets packages_;
};

// Throws if timers of this event loop never ring. Asio does not look whether the kernel watches its
// timer; without, every time limit would be waited for in vain.
void check_timers(asio::io_context& context);

// Does the work of one command with a wiring, which is shut down however the work ends: what SIGINT
// cancels is the work, not the clean-up. The configuration must outlive the task.
Task<int> with_wiring(const Config& config, Foundation foundation,
                      std::function<Task<int>(Wiring&)> work);

// Runs a task on an event loop of its own to its end. SIGINT and SIGTERM cancel it.
int run_to_end(const std::function<Task<int>(asio::any_io_executor)>& main);

}  // namespace belljar::app
