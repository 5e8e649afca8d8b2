#pragma once

#include <string>

#include "base/task.h"
#include "packages/layer_builder.h"
#include "packages/store_directory.h"

namespace belljar::packages {

// Builds in `directory` (fresh, empty) the layer of build_layer() as the install scripts of the
// plan have left it. They see it as it is without them, and never the links to the store: what they
// have made, changed and removed is copied, into this layer alone. It has no base. Optional
// packages whose scripts fail are removed, as npm does, with those that need them and what only
// they need.
//
// Errors are those of build_layer(), recipe.scripts.run and collect_changes().
Task<BuiltLayer> build_scripted_layer(const StoreDirectory& store, std::string directory,
                                      std::string key, LayerRecipe recipe, ScriptPlan plan,
                                      InstallProgress progress);

}  // namespace belljar::packages
