#include "net/proxy.h"

#include <fmt/format.h>

#include <algorithm>

namespace belljar::net {
namespace {

bool matches(std::string_view entry, const Url& url) {
  if (entry == "*") return true;
  const std::string port = fmt::format(":{}", url.port);
  // Only one colon: more of them are an IPv6 address, not a port.
  if (std::count(entry.begin(), entry.end(), ':') == 1) {
    if (!entry.ends_with(port)) return false;
    entry.remove_suffix(port.size());
  }
  if (entry.starts_with("*.")) entry.remove_prefix(1);
  if (entry.starts_with('.')) entry.remove_prefix(1);
  if (entry.empty()) return false;
  if (url.host == entry) return true;
  return url.host.size() > entry.size() && url.host.ends_with(entry) &&
         url.host[url.host.size() - entry.size() - 1] == '.';
}

}  // namespace

std::optional<Url> proxy_for(const ProxySettings& settings, const Url& url) {
  const auto& proxy = url.is_tls() ? settings.for_https : settings.for_http;
  if (!proxy) return std::nullopt;
  const bool direct = std::any_of(settings.direct.begin(), settings.direct.end(),
                                  [&url](const std::string& entry) { return matches(entry, url); });
  return direct ? std::nullopt : proxy;
}

std::vector<std::string> split_no_proxy(std::string_view text) {
  std::vector<std::string> entries;
  std::string entry;
  for (const char c : text) {
    if (c == ',' || std::isspace(static_cast<unsigned char>(c))) {
      if (!entry.empty()) entries.push_back(std::move(entry));
      entry.clear();
    } else {
      entry += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  if (!entry.empty()) entries.push_back(std::move(entry));
  return entries;
}

}  // namespace belljar::net
