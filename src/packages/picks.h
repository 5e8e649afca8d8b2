#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "packages/pick.h"

namespace belljar::packages {

// Which version every dependency means, as far as it is known: what builds a tree reads it without
// waiting, and names what is missing.
class Picks {
 public:
  struct Pick {
    std::shared_ptr<const Manifest> manifest;  // null: there is none
    std::string unsure;                        // why only npm can tell
    std::string problem;                       // without a manifest: what is wrong
    Code code = Code::not_found;
    int followed = 0;  // 1: its peers are known too; 2: and all that it depends on
  };

  static std::string key(const PackageSpec& spec) { return spec.name + "@" + spec.text; }
  Pick* find(const PackageSpec& spec);
  Pick& add(const PackageSpec& spec, Pick pick);

  // Notes that a tree needs this one too.
  void miss(const DependencyEdge& edge) { missing_.push_back(edge); }
  bool has_missing() const { return !missing_.empty(); }
  std::vector<DependencyEdge> take_missing() { return std::exchange(missing_, {}); }

 private:
  std::unordered_map<std::string, Pick> picks_;
  // One manifest per version, however many ranges mean it.
  std::unordered_map<std::string, std::shared_ptr<const Manifest>> manifests_;
  std::vector<DependencyEdge> missing_;
};

}  // namespace belljar::packages
