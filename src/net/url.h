#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belljar::net {

// An http or https address, taken apart. A value; strict: what is not clearly such an address is
// not one.
struct Url {
  std::string scheme;    // "http" or "https"
  std::string user;      // decoded; "" if there is none
  std::string password;  // decoded; never shown by to_string()
  std::string host;      // lower case; an IPv6 address without its brackets
  uint16_t port = 0;     // always filled in
  std::string target;    // path and query as they go on the wire, at least "/"

  bool is_tls() const { return scheme == "https"; }
  bool same_origin(const Url& other) const {
    return scheme == other.scheme && host == other.host && port == other.port;
  }
};

// Nothing if the text is not an absolute http(s) address. A fragment is dropped.
std::optional<Url> parse_url(std::string_view text);

// What a `Location` header or a relative link means for someone who is at `base`.
std::optional<Url> resolve_url(const Url& base, std::string_view reference);

// "host" or "host:port" when the port is not the scheme's own; brackets around IPv6.
std::string authority(const Url& url);

// The address without user and password, so that it can be logged and shown.
std::string to_string(const Url& url);

}  // namespace belljar::net
