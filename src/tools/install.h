#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "packages/package_sets.h"
#include "sandbox/sandboxes.h"

namespace belljar::tools {

// What installing works with. The references must outlive the call, and whatever else wants the
// same packages at the same time.
struct InstallContext {
  Sandboxes& sandboxes;
  packages::Registry& registry;
  packages::PackageSets& sets;
  const Clock& clock;
  std::string downloads;  // see NpmContext
};

struct InstallRequest {
  std::string owner;
  std::vector<packages::Dependency> dependencies;  // checked
  // Exactly these packages instead; null: those that the dependencies mean now.
  std::shared_ptr<const packages::Lockfile> lockfile = nullptr;
  milliseconds timeout{120'000};                   // for all of it
  std::function<void(std::string_view)> progress;  // may be empty
};

struct InstallReport {
  milliseconds time{0};
  size_t packages = 0;  // that the program can use, those that others need included
  bool cached = false;  // nothing had to be resolved, fetched or built
  std::string output;   // in words, the warnings and what install scripts printed included
  std::vector<std::string> warnings = {};
  std::string lockfile = {};  // the SHA-256 of its text; see PackageSets::lockfile()
};

// Has /workspace/node_modules of `target` show the packages, in place of those that were there.
//
// A failure is an Error whose first line says what is wrong and what to do. Cancelling ends
// everything that nobody else waits for.
Task<InstallReport> install_dependencies(const InstallContext& context, InstallRequest request,
                                         Lease& target);

}  // namespace belljar::tools
