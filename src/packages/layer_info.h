#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "packages/dependency.h"
#include "packages/platform.h"

namespace belljar::packages {

struct Lockfile;

// Who will use a layer.
struct LayerTarget {
  uint64_t node_major = 0;
  Platform platform;
};

// What a set of dependencies or a lockfile means for a target, as 64 hexadecimal digits. The order
// of dependencies does not matter.
std::string key_of(const std::vector<Dependency>& dependencies, const LayerTarget& target);
std::string key_of(const Lockfile& lockfile, const LayerTarget& target);
bool is_layer_key(std::string_view text);

// What is known of a layer: its manifest.json.
struct LayerInfo {
  struct Package {
    std::string path;
    std::string content;      // its id in the PackageStore
    uint64_t disk_bytes = 0;  // of that content, which other layers may share
  };

  std::string key;
  LayerTarget target;
  std::vector<Dependency> dependencies;
  int64_t resolved_at = 0;  // seconds since 1970
  std::vector<Package> packages;
  uint64_t package_count = 0;  // with those in bundles
  uint64_t files = 0;
  uint64_t bytes = 0;           // of all files
  uint64_t own_files = 0;       // and links, that are not in its base; 0: nor is a node_modules
  uint64_t own_disk_bytes = 0;  // what no other layer shares
  std::string base;             // the tree that it is built upon (layer_base.h), or ""
  uint64_t base_disk_bytes = 0;
  std::string file_list_sha256;
  std::string lockfile_sha256;

  std::string serialize() const;
  static LayerInfo parse(std::string_view text);  // Error{unavailable} if it is damaged
};

}  // namespace belljar::packages
