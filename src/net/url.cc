#include "net/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>
#include <charconv>

namespace belljar::net {
namespace {

namespace urls = boost::urls;

std::string lower(std::string_view text) {
  std::string result{text};
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::optional<Url> from_view(const urls::url_view& view) {
  Url url;
  url.scheme = lower(view.scheme());
  if (url.scheme != "http" && url.scheme != "https") return std::nullopt;
  if (view.encoded_host().empty()) return std::nullopt;
  url.user = view.user();
  url.password = view.password();
  url.host = lower(view.host_address());
  // A decoded host may hold anything; only what a name or an address is made of goes further.
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == ':';
  };
  if (!std::all_of(url.host.begin(), url.host.end(), allowed)) return std::nullopt;
  url.port = url.is_tls() ? 443 : 80;
  if (view.has_port() && !view.port().empty()) {
    // Boost's own port_number() lets a number wrap around.
    const std::string_view port{view.port()};
    const auto result = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (result.ec != std::errc{} || url.port == 0) return std::nullopt;
  }
  url.target = std::string{view.encoded_path()};
  if (url.target.empty()) url.target = "/";
  // Boost takes "http://host:x/y" for a host, an empty port and the path "x/y".
  if (!url.target.starts_with('/')) return std::nullopt;
  if (view.has_query()) url.target += "?" + std::string{view.encoded_query()};
  return url;
}

}  // namespace

std::optional<Url> parse_url(std::string_view text) {
  const auto parsed = urls::parse_uri(text);
  if (!parsed) return std::nullopt;
  return from_view(*parsed);
}

std::optional<Url> resolve_url(const Url& base, std::string_view reference) {
  const std::string base_text = to_string(base);
  const auto parsed_base = urls::parse_uri(base_text);
  const auto parsed = urls::parse_uri_reference(reference);
  if (!parsed_base || !parsed) return std::nullopt;
  urls::url result;
  if (!urls::resolve(*parsed_base, *parsed, result)) return std::nullopt;
  return from_view(result);
}

std::string authority(const Url& url) {
  const bool ipv6 = url.host.find(':') != std::string::npos;
  std::string result = ipv6 ? "[" + url.host + "]" : url.host;
  if (url.port != (url.is_tls() ? 443 : 80)) result += fmt::format(":{}", url.port);
  return result;
}

std::string to_string(const Url& url) {
  return url.scheme + "://" + authority(url) + url.target;
}

}  // namespace belljar::net
