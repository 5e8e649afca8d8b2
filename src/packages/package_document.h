#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "packages/integrity.h"
#include "packages/semver.h"

namespace belljar::packages {

// One published version of a package.
struct PackageVersion {
  std::string name;
  Version version;
  std::string tarball;                 // address
  std::optional<Integrity> integrity;  // without it nothing is downloaded
  std::string node_range;              // engines.node, "" if any Node.js will do
  bool deprecated = false;
};

// What the registry knows about a package, as far as installing needs it.
struct PackageDocument {
  std::string name;
  std::map<std::string, std::string, std::less<>> tags;  // "latest" → "1.2.3"
  std::vector<PackageVersion> versions;                  // ascending

  // The version that npm would take for an exact version, a dist-tag or a range; nullptr if none
  // fits.
  const PackageVersion* select(std::string_view spec) const;

  // This very version, or nullptr.
  const PackageVersion* find(std::string_view version) const;
};

// Reads what the registry sent. Versions that make no sense are left out; Error{unavailable} if all
// of it makes none. Takes milliseconds per megabyte: call it by run_blocking().
PackageDocument parse_document(const std::string& package, std::string_view body);
PackageDocument parse_document(const std::string& package, const json::value& from);

// "lodash", "@scope/name": what may stand in a request to the registry.
bool is_package_name(std::string_view name);

}  // namespace belljar::packages
