#pragma once

#include <string>

#include "base/task.h"
#include "packages/tree_manifest.h"

namespace belljar::packages {

// The first difference between a tree and its manifest, in words; "" if there is none. Every file
// is read, by as many threads as there are for such work. Both must stay until it returns.
Task<std::string> find_damage(const TreeManifest& manifest, int directory);

}  // namespace belljar::packages
