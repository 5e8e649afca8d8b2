#pragma once

#include <set>
#include <string>

#include "packages/layer_plan.h"

// Trees that layers share. Files are shared by all layers, but every directory takes a block of the
// disk, and small packages are mostly directories: a layer of many packages has only those of its
// own that its base, a tree in trees/, has not. Both are mounted, the layer over its base.
//
// A base holds nothing that its layer does not have at the same path, so nothing must be hidden. It
// is named by the hash of its file-list, and never changed.
namespace belljar::packages {

// With fewer packages a layer stands alone: a tree of its own would take more than it saves.
constexpr size_t kFewestToShare = 8;

struct LayerBase {
  std::string id;           // "" if the layer stands alone
  uint64_t disk_bytes = 0;  // of directories and lists, which its layers share
  bool is_new = false;      // this call has made it
  LayerPlan rest;           // what is left for the layer itself
};

// Finds a base for what is planned, or makes one. To be called with the shared lock "contents".
// Blocks.
LayerBase find_base(const StoreDirectory& store, LayerPlan plan);

// What a base holds. Error if that is damaged. Blocks.
TreeManifest read_base(int directory, const std::string& id);

// Takes a damaged base out of sight; its layers will be made again.
void retire_base(const StoreDirectory& store, const std::string& id);

// Deletes what no layer is built upon, retired ones included, unless it is in use. To be called
// with the exclusive lock "contents".
void delete_unused_bases(const StoreDirectory& store, const std::set<std::string>& used);

}  // namespace belljar::packages
