#pragma once

#include <string>
#include <vector>

#include "packages/layer_builder.h"
#include "packages/tree_manifest.h"

namespace belljar::packages {

// What node_modules of a layer is to hold, before anything is written.
struct LayerPlan {
  static constexpr size_t kOfNoPackage = ~size_t{0};
  static constexpr size_t kMoved = kOfNoPackage - 1;

  struct File {
    UnpackedFile file;
    size_t package = kOfNoPackage;  // which of `packages` it is of
    // Its path in that package, or all its text; with kMoved the path of a file of the store that
    // is nobody else's.
    std::string source;
    bool is_made_executable = false;
  };

  std::vector<LayerInfo::Package> packages;  // each with files of its own
  std::vector<File> files;                   // the hidden lockfile is the last
  std::vector<TreeLink> links;
  size_t package_count = 0;  // with those in bundles

  TreeManifest manifest() const;
};

// What npm would have installed: the files of all packages, `.bin`, npm's hidden lockfile. Error if
// a package is gone from the store. Blocks.
LayerPlan plan_layer(const StoreDirectory& store, const LayerRecipe& recipe);

// "#!/usr/bin/env node\r\n" does not start; npm mends it in the target of a command, and so do we.
// Not in what is larger than any script.
constexpr size_t kLargestProgram = 16u << 20;
std::string program_text(int file, const std::string& name);

}  // namespace belljar::packages
