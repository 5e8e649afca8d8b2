#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace belljar::docker {

// The name of an image, taken apart: "localhost:5000/tools/node:24-slim". A value.
struct ImageReference {
  std::string registry;  // "localhost:5000"; "" if the name says none
  std::string path;      // "tools/node"
  std::string tag;       // "24-slim"; "" if the name says none
  std::string digest;    // "sha256:…" of 64 digits; "" if the name says none

  // "localhost:5000/tools/node"
  std::string repository() const { return registry.empty() ? path : registry + "/" + path; }

  // The registry that is meant, by the one name of it that canonical_registry() knows.
  std::string home() const;

  // "docker.io/library/node" for "node": what no engine takes for a name in another registry.
  std::string full_repository() const;
};

// A registry has one name: its host in lower case, and "docker.io" is the one that is meant by
// names without a host, which its own files call by another.
std::string canonical_registry(std::string_view host);

// Nothing if the text is not clearly such a name (the grammar of the OCI distribution's references,
// at most 255 characters). What passes holds no character that means anything to a path, a query or
// a shell, and does not begin with a dash.
std::optional<ImageReference> parse_image_reference(std::string_view text);

// "sha256:" and 64 lower-case hexadecimal digits: what an engine calls an image by itself.
bool is_digest(std::string_view text);

// What engines call containers: their ids, and names that we give them.
bool is_container_name(std::string_view text);

}  // namespace belljar::docker
