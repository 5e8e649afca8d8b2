#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/http_exchange.h"

namespace belljar::mcp {

// By which names this server may be asked for, and pages of which origins may ask. Compared as a
// whole, never in part.
struct AllowedHosts {
  // "mcp.example.com" (any port) or "mcp.example.com:8443"; IPv6 addresses in brackets.
  std::vector<std::string> hosts = {"localhost", "127.0.0.1", "[::1]"};
  // "https://app.example.com", with the port unless it is the scheme's. Beside them count the
  // http and https origins of `loopback`'s names, whatever their port.
  std::vector<std::string> origins;
  bool loopback = true;  // pages that this machine serves to itself may ask
};

// The first of all checks, before anything of a request is looked at or answered: refuses what a
// browser was talked into sending (DNS rebinding, pages of strangers). Nothing: go on.
std::optional<net::HttpAnswer> refuse_foreign(const net::HttpServerRequest& request,
                                              const AllowedHosts& allowed);

}  // namespace belljar::mcp
