#pragma once

#include <string>

#include "packages/layer_plan.h"

namespace belljar::packages {

// Writes what is planned into a fresh, empty directory: files of packages as hard links into the
// store, or as copies where the file system refuses one more. Links come after all of them: no
// directory is ever made by a way that leads through one. Returns what of it is shared with nobody,
// in bytes on the disk. Nobody else can reach the directory yet. Blocks.
uint64_t write_tree(const StoreDirectory& store, const LayerPlan& plan,
                    const std::string& directory);

}  // namespace belljar::packages
