#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "packages/package_sets.h"
#include "sandbox/sandboxes.h"

namespace belljar::tools {

// What npm works with. The references must outlive the call.
struct NpmContext {
  Sandboxes& sandboxes;
  packages::Registry& registry;
  const Clock& clock;
  std::string downloads;  // a directory of the host for tarballs on their way; nothing stays there
  std::string owner;      // whose sandbox it is
  SandboxSpec spec;       // of the sandbox that the packages are for
  milliseconds timeout{120'000};
};

// Has npm find out which packages a set of dependencies means, in a sandbox of its own that has
// nothing but the registry's packages (packages/registry_proxy.h) and that ends with this call; no
// code of a package runs there. Only the lockfile is taken from it.
//
// A failure is an Error whose first line says what is wrong and what to do; what npm printed
// follows. Cancelling ends everything.
Task<packages::Lockfile> resolve_with_npm(NpmContext context, packages::WantedSet wanted,
                                          packages::InstallProgress progress);

// The npm of an image as the sandbox sees it; Error{unavailable} if it has none.
std::string npm_program(const Image& image);

// A sandbox for npm: that of the program, without network, with what npm needs.
SandboxSpec install_spec(const SandboxSpec& program);

// How npm is started, in a package that wants the dependencies; and settings for all that it does
// here: nothing but what is on the command line counts.
Command npm_start(const Image& image, const std::vector<packages::Dependency>& dependencies);
void add_npm_settings(Command& command);

// What is started in the install sandbox. None of the client's words is an argument: they are in
// the package.json.
// `tarballs`: npm may fetch tarballs by their address, which it refuses itself even for those of
// the registry.
enum class Tarballs { no, yes };
Command npm_command(const Image& image, const std::vector<packages::Dependency>& dependencies,
                    const std::string& registry, Tarballs tarballs = Tarballs::no);

}  // namespace belljar::tools
