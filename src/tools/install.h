#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "packages/dependency.h"
#include "packages/registry.h"
#include "sandbox/sandboxes.h"

namespace belljar::tools {

// What installing works with. The references must outlive the call.
struct InstallContext {
  Sandboxes& sandboxes;
  packages::Registry& registry;
  const Clock& clock;
  std::string downloads;  // a directory of the host for tarballs on their way; nothing stays there
  // Names of packages that somebody may have meant by an unknown one. May be empty.
  std::function<Task<std::vector<std::string>>(std::string name)> near_names;
};

struct InstallRequest {
  std::string owner;
  std::vector<packages::Dependency> dependencies;  // checked, at least one
  milliseconds timeout{120'000};                   // for all of it
  std::function<void(std::string_view)> progress;  // may be empty
};

struct InstallReport {
  milliseconds time{0};
  size_t packages = 0;  // that were installed, those that others need included
  bool cached = false;
  std::string output;  // what npm printed, at most 4 KiB
};

// Installs packages into /workspace/node_modules of `target`, whatever was there before is
// replaced. npm works in a sandbox of its own that has nothing but the registry's packages
// (packages/registry_proxy.h) and that ends with this call; no code of a package runs there. Only
// its result goes to `target`, through a pipe between two tars.
//
// A failure is an Error whose first line says what is wrong and what to do; what npm printed
// follows. Cancelling ends everything.
Task<InstallReport> install_dependencies(const InstallContext& context, InstallRequest request,
                                         Lease& target);

// The npm of an image as the sandbox sees it; Error{unavailable} if it has none.
std::string npm_program(const Image& image);

// What is started in the install sandbox. None of the client's words is an argument: they are in
// the package.json.
Command npm_command(const Image& image, const std::vector<packages::Dependency>& dependencies,
                    const std::string& registry);

}  // namespace belljar::tools
