#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mcp/tool.h"
#include "packages/dependency.h"
#include "tools/arguments.h"
#include "tools/install.h"
#include "tools/tools.h"

namespace belljar::tools {

// The packages that a run wants.
struct RunPackages {
  std::vector<packages::Dependency> dependencies;
  std::string lockfile;  // the text of one, or the URI of one that a result named; "": none

  bool empty() const { return dependencies.empty() && lockfile.empty(); }
};

// `dependencies` and `lockfile`, and what a client sent for them. Error{invalid} for what is not a
// package of the registry.
std::vector<Parameter> packages_parameters();
RunPackages read_packages(const Arguments& arguments);

// install_dependencies() with the operator's settings, those of the request aside: its owner, its
// packages and whom it tells how far it is.
Task<InstallReport> install_for_run(const Context& context, InstallRequest request, Lease& lease);

// Installs what a call wants. In a session what earlier calls wanted stays; of a package that both
// want it is the version of the later one.
Task<InstallReport> install_for_call(const Context& context, RunPackages packages, bool in_session,
                                     Lease& lease, mcp::Call& call);

// "belljar://lockfiles/…", and the SHA-256 in one; nothing if it is none.
std::string uri_of_lockfile(const std::string& sha256);
std::optional<std::string> lockfile_of_uri(std::string_view uri);

}  // namespace belljar::tools
