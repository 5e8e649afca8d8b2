#pragma once

#include <string>
#include <vector>

#include "packages/layer_store.h"

// Layers as directories: what LayerStore does with them, in blocking calls.
namespace belljar::packages {

// The directory of a layer with a shared lock on it, if it is there and nobody removes it. Quick.
Fd open_layer_directory(const StoreDirectory& store, const std::string& key);
// The same for a tree that layers share.
Fd open_base_directory(const StoreDirectory& store, const std::string& id);

// A directory with an exclusive lock, or nothing while it is in use.
Fd lock_alone(const std::string& path);

std::vector<std::string> names_in(const std::string& path);

uint64_t inode_of(int directory);

// Sets the time of last use, at most once a minute. Quick.
void touch_layer(int directory);

// A layer as its files describe it. Error if one of them is missing or damaged.
struct LayerFiles {
  LayerInfo info;
  std::string lockfile;
  TreeManifest files;
};
LayerFiles read_layer(int directory, const std::string& key);

// Takes the layer out of sight if it is still the one with that inode. Whoever uses it keeps it; it
// is deleted as soon as nobody does, by this call or a later one of delete_retired().
void retire_layer(const StoreDirectory& store, const std::string& key, uint64_t inode);
void delete_retired(const StoreDirectory& store);

enum class Removal { removed, absent, in_use };
Removal remove_layer(const StoreDirectory& store, const std::string& key);

// All layers, the latest used first; those that cannot be read are left out.
std::vector<LayerSummary> list_layers(const StoreDirectory& store);
StoreUsage usage_of(const std::vector<LayerSummary>& layers);

// Deletes layers that cannot be read: damaged ones, and those of another format.
void delete_unreadable(const StoreDirectory& store);

// Deletes the packages and trees that no layer is made of, retired ones included. To be called with
// the exclusive lock "contents". How many packages.
uint64_t delete_unused_contents(const StoreDirectory& store);

}  // namespace belljar::packages
