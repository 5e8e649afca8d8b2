#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "packages/dependency.h"
#include "packages/registry.h"

namespace belljar::packages {

struct TypesOptions {
  std::string downloads = "/tmp";                // a directory for tarballs; nothing is left in it
  size_t text_limit = 256u << 10;                // bytes of declarations of each package
  std::chrono::milliseconds time_limit{30'000};  // for each package
};

// The TypeScript declarations of one package.
struct PackageTypes {
  std::string name;
  std::string version;        // the one that was looked at; "" if there is none
  std::string types;          // declarations, file by file; "" if there are none
  std::string types_package;  // "@types/name@1.2.3" if they come from there
  std::string error;          // why nothing can be said; "" if something can

  bool has_types() const { return !types.empty(); }
};

// Looks for the declarations of each in its own tarball, else in its @types package. Four at a
// time; what fails for one is its `error` and concerns no other. Nothing but cancellation throws.
// The order is that of the dependencies; their names and versions must have been checked.
Task<std::vector<PackageTypes>> find_types(Registry& registry, std::vector<Dependency> dependencies,
                                           TypesOptions options);

// "@types/lodash", "@types/scope__name"; "" for what is such a package itself.
std::string types_package_of(std::string_view package);

}  // namespace belljar::packages
