#pragma once

#include "mcp/server.h"
#include "packages/package_sets.h"

namespace belljar::tools {

// Makes the lockfiles that results name readable as resources `belljar://lockfiles/{sha256}`. They
// are not listed: each is for whoever got its name. `packages` must outlive the server.
void add_lockfile_resources(mcp::Server& server, packages::PackageSets& packages);

}  // namespace belljar::tools
