#pragma once

#include <string>

#include "packages/install_scripts.h"
#include "packages/layer_info.h"
#include "packages/lockfile.h"
#include "packages/store_directory.h"
#include "packages/tree_manifest.h"

namespace belljar::packages {

// What a layer is made from.
struct LayerRecipe {
  Lockfile lockfile;
  std::vector<Dependency> dependencies;  // that were asked for; may say less than the lockfile
  LayerTarget target;
  int64_t resolved_at = 0;  // seconds since 1970
  ScriptRules scripts = {};
  std::vector<std::string> failed = {};  // paths of optional packages that could not be built
};

struct LayerPlan;

struct BuiltLayer {
  LayerInfo info;
  bool is_base_new = false;  // it has one, made by this call
};

// Builds in `directory` (fresh, empty) what npm would have installed: node_modules with the files
// of the packages as hard links into the store, `.bin`, npm's hidden lockfile, as far as the base
// of the layer has not got it (layer_base.h); beside it package-lock.json, manifest.json and
// file-list. All packages must be in the store.
//
// npm makes the target of a command executable. Here it would change the mode of a file that other
// layers share: a target that is not executable is copied instead, into the layer alone. No script
// runs; see build_scripted_layer().
//
// Blocks: call it by run_blocking(). Error{not_found} if a package is gone from the store.
BuiltLayer build_layer(const StoreDirectory& store, const std::string& directory,
                       const std::string& key, const LayerRecipe& recipe);

// The same of a plan that no other layer has a part of, so without a base.
BuiltLayer build_layer_alone(const StoreDirectory& store, const std::string& directory,
                             const std::string& key, const LayerRecipe& recipe, LayerPlan plan);

}  // namespace belljar::packages
