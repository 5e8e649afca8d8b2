#pragma once

#include <optional>
#include <string>

#include "packages/npm_install.h"
#include "packages/semver.h"

namespace belljar::runtime {

// The Node.js that the operator has installed.
struct HostNode {
  packages::Version version;
  std::string program;  // "/usr/bin/node", links resolved
  std::string prefix;   // "/usr/local"; "" if it lives in /usr, which sandboxes see anyway
};

// The first Node.js in PATH (then /usr/local, /usr) that is a program for this machine and whose
// version can be told. It is not run: the version stands in the binary, as part of the name of its
// source archive, or in the headers beside it. Reads up to the whole binary (0.1 s): call it by
// run_blocking().
std::optional<HostNode> find_host_node(const packages::Surroundings& host);

}  // namespace belljar::runtime
