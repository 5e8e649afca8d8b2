#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "packages/registry.h"
#include "runtime/host_node.h"
#include "runtime/image_name.h"
#include "runtime/runtime_store.h"
#include "sandbox/spec.h"

namespace belljar::runtime {

// Told what goes on during a long operation, in words for the user. May be empty.
using Progress = std::function<void(std::string_view message)>;

// The Node.js versions that programs can run on: official builds from the npm registry, kept under
// the data directory. Belongs to the loop; calls may overlap, also with those of another belljar
// process: whoever comes second waits for the first and uses its result. Cancelling leaves nothing
// half done.
//
//   packages::Registry registry{packages::Surroundings::of_this_process()};
//   Runtimes runtimes{default_data_directory(), registry};
//   const Image image = co_await runtimes.resolve("node:lts-slim", progress);
class Runtimes {
 public:
  Runtimes(std::string data_directory, packages::Registry& registry,
           std::function<Date()> today = runtime::today);

  // Ascending. Valid until the next call of anything here.
  const std::vector<Installed>& list() { return store_.list(); }

  // The Node.js for an image name. An installed version that fits is found in microseconds, without
  // the network. Otherwise the newest that fits is installed; if it cannot be had, another
  // installed one that the name allows or else the host's own Node.js (20 or newer) is taken, and
  // `progress` says so; the Image's name then says it too. Error{invalid} for a name that makes no
  // sense, with a list of what there is; Error{unavailable} or {not_found} if nothing can serve.
  Task<Image> resolve(std::string image, Progress progress);

  // Makes sure that the newest version that fits ("22", "22.23.3", "lts", "node:24-slim") is
  // installed. About 60 MB are downloaded and 170 MB stored.
  Task<Installed> install(std::string version, Progress progress);

  // Gives the linter (linter.h) to the installed versions that are without one: those of an older
  // belljar, and those for which it could not be had. install() does this too. What goes wrong is
  // only logged. For the background: nobody waits for a linter.
  Task<> add_linters();

  // Removes what an installation left behind that was killed. One that is under way is not touched.
  // For the background.
  Task<> tidy();

  // False if that exact version is not installed. Sandboxes that still run on it lose their
  // Node.js.
  Task<bool> remove(std::string version);

 private:
  Task<Installed> install_named(const ImageName& name, const Progress& progress);
  Task<Installed> install_version(const packages::PackageVersion& node, const Progress& progress);
  Task<packages::PackageVersion> choose_npm(const packages::Version& node);
  Task<Fd> download(const packages::PackageVersion& package, const std::string& label,
                    const Progress& progress);
  Task<Fd> lock(const Progress& progress);
  Task<std::optional<Image>> substitute(const ImageName& name, std::string reason,
                                        const Progress& progress);
  const Installed* newest_meant(const ImageName& name);
  const Installed* newest_accepted(const ImageName& name);
  std::string what_there_is();

  packages::Registry& registry_;
  std::function<Date()> today_;
  RuntimeStore store_;
  // What a name got today when the registry does not have what it means (a new LTS that is late),
  // so that it is not asked for every run.
  struct Choice {
    packages::Version version;
    Date day;
  };
  std::map<std::string, Choice, std::less<>> chosen_;
  // After a failure the registry is left alone for a while if there is a substitute.
  std::optional<std::chrono::steady_clock::time_point> unreachable_since_;
  std::string unreachable_reason_;
  std::optional<std::optional<HostNode>> host_node_;  // looked for once
};

}  // namespace belljar::runtime
