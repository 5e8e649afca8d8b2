#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "packages/package_spec.h"
#include "packages/semver.h"

namespace belljar::packages {

enum class EdgeType { prod, optional, peer, peer_optional };

inline bool is_peer(EdgeType type) {
  return type == EdgeType::peer || type == EdgeType::peer_optional;
}
inline bool is_optional(EdgeType type) {
  return type == EdgeType::optional || type == EdgeType::peer_optional;
}

// That a package needs another.
struct DependencyEdge {
  std::string name;  // under which it is required: the folder in node_modules
  PackageSpec spec;
  EdgeType type = EdgeType::prod;
};

// One published version of a package, as far as a tree and a lockfile need it. Immutable: shared
// by every tree that it is part of.
struct Manifest {
  std::string name;
  Version version;
  std::string version_text;
  std::string integrity;  // "sha512-…", "" if the registry has none
  std::string tarball;    // address
  bool deprecated = false;
  std::string node_range, npm_range;  // of engines, "" if any will do
  std::vector<std::string> os, cpu, libc;
  std::map<std::string, std::string, std::less<>> bin;
  bool has_install_script = false;
  std::vector<DependencyEdge> edges;  // in the order in which npm looks at them
  json::object entry;      // of package-lock.json, without what depends on the place in a tree
  std::string strange;     // why only npm can tell what this package means, or ""
  std::string not_placed;  // why only npm can tell what a tree with this package has, or ""
};

// Reads one member of `versions` of a package document, abbreviated or full. Never throws: what
// makes no sense is `strange`.
std::shared_ptr<const Manifest> make_manifest(const std::string& package, const Version& version,
                                              std::string_view text);

}  // namespace belljar::packages
