#include "mcp/http_guard.h"

#include <algorithm>
#include <array>

namespace belljar::mcp {

namespace {

constexpr std::array<std::string_view, 3> kLoopback = {"localhost", "127.0.0.1", "[::1]"};

std::string to_lower(std::string_view text) {
  std::string result{text};
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// The host without its port; nothing if what follows it is no port.
std::optional<std::string_view> without_port(std::string_view authority) {
  const size_t end = authority.starts_with('[') ? authority.find(']') + 1 : authority.find(':');
  if (end == 0) return std::nullopt;  // a bracket that is never closed
  const std::string_view host = authority.substr(0, end);
  const std::string_view rest = authority.substr(host.size());
  if (rest.empty()) return host;
  const std::string_view port = rest.substr(1);
  const bool number = !port.empty() && port.size() <= 5 &&
                      port.find_first_not_of("0123456789") == std::string_view::npos;
  return rest[0] == ':' && number ? std::optional{host} : std::nullopt;
}

template <class List>
bool contains(const List& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

bool is_allowed_host(std::string_view sent, const AllowedHosts& allowed) {
  const std::string authority = to_lower(sent);
  const auto host = without_port(authority);
  return host && (contains(allowed.hosts, authority) || contains(allowed.hosts, *host));
}

bool is_allowed_origin(std::string_view sent, const AllowedHosts& allowed) {
  const std::string origin = to_lower(sent);
  if (contains(allowed.origins, origin)) return true;
  if (!allowed.loopback) return false;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!origin.starts_with(scheme)) continue;
    const auto host = without_port(std::string_view{origin}.substr(scheme.size()));
    return host && contains(kLoopback, *host);
  }
  return false;
}

}  // namespace

std::optional<net::HttpAnswer> refuse_foreign(const net::HttpServerRequest& request,
                                              const AllowedHosts& allowed) {
  if (request.count("host") != 1)
    return net::error_answer(400, "a request needs exactly one Host header");
  if (!is_allowed_host(request.header("host"), allowed)) {
    return net::error_answer(403,
                             "this server is not to be asked for under that name: its Host is not "
                             "one of the allowed hosts");
  }
  if (request.count("origin") == 0) return std::nullopt;
  if (request.count("origin") == 1 && is_allowed_origin(request.header("origin"), allowed))
    return std::nullopt;
  return net::error_answer(403,
                           "pages of this origin may not ask this server: it is not one of the "
                           "allowed origins");
}

}  // namespace belljar::mcp
