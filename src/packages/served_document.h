#pragma once

#include <string>
#include <string_view>

#include "packages/package_document.h"

namespace belljar::packages {

// A package's document as the registry proxy gives it to npm.
struct ServedDocument {
  PackageDocument document;
  std::string body;
};

// What the registry sent about the package, with `base` as the place of all tarballs and without
// the versions that have none. Errors as parse_document(); takes as long.
ServedDocument serve_document(const std::string& package, std::string_view body,
                              const std::string& base);

// How the address of a tarball ends.
inline constexpr std::string_view kTarballSuffix = ".tgz";

}  // namespace belljar::packages
