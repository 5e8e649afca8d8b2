#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/url.h"

namespace belljar::net {

// Through which proxy an address is reached. Plain values; where they come from is the caller's
// matter.
struct ProxySettings {
  std::optional<Url> for_http;
  std::optional<Url> for_https;
  // Hosts that are reached directly: "example.com" and ".example.com" both mean that domain and all
  // below it, "host:8080" only that port, "*" everything.
  std::vector<std::string> direct;
};

// Nothing if the address is reached directly.
std::optional<Url> proxy_for(const ProxySettings& settings, const Url& url);

// "a.example, .b.example c:8080" → its entries. Commas and spaces separate.
std::vector<std::string> split_no_proxy(std::string_view text);

}  // namespace belljar::net
