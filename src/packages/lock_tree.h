#pragma once

#include <string>
#include <vector>

#include "packages/ideal_tree.h"
#include "packages/resolver.h"

namespace belljar::packages {

// The lockfile of a tree that is complete, and what npm would warn of. Throws what npm would fail
// with: a package that could not be had, that is denied, or that is not for this platform.
Resolution lock_tree(IdealTree& ideal, Picks& picks, const ResolveRequest& request);

// Whether a package that says `list` of what it is for (["linux", "!win32"], ["any"]) is for
// `value`. An empty list is for all.
bool platform_accepts(const std::vector<std::string>& list, const std::string& value);

}  // namespace belljar::packages
