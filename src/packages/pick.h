#pragma once

#include <memory>
#include <optional>
#include <string>

#include "packages/document.h"
#include "packages/manifest.h"

namespace belljar::packages {

// What decides which version of a package npm takes, besides what is asked for.
struct PickOptions {
  Version node;
  Version npm;
  std::optional<Document::Time> before;  // later versions are not seen
};

struct Picked {
  std::shared_ptr<const Manifest> manifest;  // null: nothing fits
  std::string unsure;  // why only npm can tell, or ""; then there is no manifest
  size_t bytes = 0;    // of the document that had to be read
};

// The version that npm takes: `latest` where it fits, else the highest that fits; those that are
// deprecated, or not for this Node.js, only if there is no other. Reads as few versions of the
// document as it can, and all of them at worst: call it by run_blocking().
Picked pick(const Document& document, const PackageSpec& spec, const PickOptions& options);

// engines of the manifest accept this Node.js and npm. What is no range accepts nothing.
bool engines_accept(const Manifest& manifest, const Version& node, const Version& npm);

}  // namespace belljar::packages
