#pragma once

#include <string>

#include "packages/layer_info.h"
#include "packages/lockfile.h"
#include "packages/store_directory.h"

namespace belljar::packages {

// What a layer is made from.
struct LayerRecipe {
  Lockfile lockfile;
  std::vector<Dependency> dependencies;  // that were asked for; may say less than the lockfile
  LayerTarget target;
  int64_t resolved_at = 0;  // seconds since 1970
};

// Builds in `directory` (fresh, empty) what npm would have installed: node_modules with the files
// of the packages as hard links into the store, `.bin`, npm's hidden lockfile; beside it
// package-lock.json, manifest.json and file-list. All packages must be in the store.
//
// npm makes the target of a command executable. Here it would change the mode of a file that other
// layers share: a target that is not executable is copied instead, into the layer alone.
//
// Blocks: call it by run_blocking(). Error{not_found} if a package is gone from the store.
LayerInfo build_layer(const StoreDirectory& store, const std::string& directory,
                      const std::string& key, const LayerRecipe& recipe);

}  // namespace belljar::packages
