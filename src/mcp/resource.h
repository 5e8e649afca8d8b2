#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mcp/tool.h"

namespace belljar::mcp {

struct ResourceInfo {
  std::string uri;
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type;
  std::optional<uint64_t> size;    // bytes
  std::string last_modified = {};  // ISO 8601; "" for unknown
};

struct ResourceTemplateInfo {
  std::string uri_template;  // RFC 6570
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type;
};

// Blocks for what a read returns. `base64` is standard base64 with padding.
inline json::object text_contents(std::string_view uri, std::string_view mime_type,
                                  std::string_view text) {
  return json::object{{"uri", uri}, {"mimeType", mime_type}, {"text", text}};
}
inline json::object blob_contents(std::string_view uri, std::string_view mime_type,
                                  std::string_view base64) {
  return json::object{{"uri", uri}, {"mimeType", mime_type}, {"blob", base64}};
}

// A family of things that a client may read by URI: those it lists one by one, and those that match
// one of its templates. What is listed may depend on the owner of the call, never on the
// connection.
class ResourceSource {
 public:
  virtual ~ResourceSource() = default;

  // In an order that does not change from call to call.
  virtual Task<std::vector<ResourceInfo>> list(Call& call) = 0;
  virtual std::vector<ResourceTemplateInfo> templates() const = 0;

  // The contents, or nothing if the URI is not one of this source's or names nothing this owner may
  // see.
  virtual Task<std::optional<json::array>> read(std::string uri, Call& call) = 0;

  // Called whenever clients begin or cease to be interested in changes; Server::resource_interest()
  // says in which. A source that can change announces changes while there is interest.
  virtual void interest_changed() {}
};

}  // namespace belljar::mcp
