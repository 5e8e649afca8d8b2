#include "network/preview_rewriting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "network/host_name.h"

namespace belljar::network {

namespace {

constexpr std::string_view kStart = "/preview/";

template <size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

// Between two neighbours only, or made anew here.
bool is_about_connection(std::string_view name) {
  constexpr std::array<std::string_view, 12> kNames{"connection",
                                                    "content-length",
                                                    "expect",
                                                    "http2-settings",
                                                    "keep-alive",
                                                    "te",
                                                    "trailer",
                                                    "proxy-authenticate",
                                                    "transfer-encoding",
                                                    "upgrade",
                                                    "host",
                                                    "proxy-authorization"};
  return is_one_of(name, kNames);
}

// Would hold for the origin as a whole.
bool is_about_origin(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames{"alt-svc",
                                                   "clear-site-data",
                                                   "nel",
                                                   "report-to",
                                                   "reporting-endpoints",
                                                   "service-worker-allowed",
                                                   "origin-agent-cluster",
                                                   "strict-transport-security"};
  return is_one_of(name, kNames);
}

bool is_forwarding(std::string_view name) {
  return name == "forwarded" || name.starts_with("x-forwarded-");
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Calls `each` with the trimmed parts of a list, and takes them off it.
template <class Each>
void for_each_part(std::string_view text, char separator, Each each) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = trimmed(text.substr(0, end));
    if (!part.empty()) each(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool is_ours(std::string_view cookie) {
  return cookie.substr(0, cookie.find('=')) == kPreviewCookie;
}

std::string other_cookies(std::string_view value) {
  std::string kept;
  for_each_part(value, ';', [&kept](std::string_view cookie) {
    if (is_ours(cookie)) return;
    if (!kept.empty()) kept += "; ";
    kept += cookie;
  });
  return kept;
}

// "" for one that the server in the sandbox must not set.
std::string own_cookie(std::string_view value, const std::string& prefix) {
  std::string kept;
  for_each_part(value, ';', [&kept](std::string_view part) {
    const std::string name = lower_ascii(part.substr(0, part.find('=')));
    if (!kept.empty() && (name == "path" || name == "domain")) return;
    if (!kept.empty()) kept += "; ";
    kept += part;
  });
  if (kept.empty() || is_ours(kept)) return "";
  return fmt::format("{}; Path={}", kept, prefix);
}

// Where a redirection leads, seen from outside.
std::string outer_location(const std::string& location, const PreviewPath& path) {
  std::string_view rest = location;
  for (const char* host : {"localhost", "127.0.0.1"}) {
    const std::string own = fmt::format("http://{}:{}", host, path.port);
    const bool ends = rest.size() == own.size() || rest.substr(0, own.size() + 1) == own + "/";
    if (rest.starts_with(own) && ends) {
      rest.remove_prefix(own.size());
      if (rest.empty()) rest = "/";
      break;
    }
  }
  const bool is_path = rest.starts_with('/') && !rest.starts_with("//");
  return is_path ? path.prefix() + std::string{rest.substr(1)} : location;
}

std::string inner_value(std::string_view name, const std::string& value, const PreviewPath& path) {
  if (name == "cookie") return other_cookies(value);
  if (name == "origin") return fmt::format("http://localhost:{}", path.port);
  if (name == "authorization" && lower_ascii(value).starts_with("bearer ")) return "";
  return value;
}

}  // namespace

std::string PreviewPath::prefix() const {
  return fmt::format("{}{}/{}/", kStart, id, port);
}

std::optional<PreviewPath> read_preview_path(std::string_view target) {
  if (!target.starts_with(kStart)) return std::nullopt;
  target.remove_prefix(kStart.size());
  const size_t slash = target.find('/');
  if (slash == 0 || slash == std::string_view::npos) return std::nullopt;
  PreviewPath path;
  path.id = target.substr(0, slash);
  target.remove_prefix(slash + 1);
  const char* end = target.data() + target.size();
  const auto [after, error] = std::from_chars(target.data(), end, path.port);
  if (error != std::errc{} || path.port == 0 || target.front() == '0') return std::nullopt;
  path.rest = std::string{after, end};
  if (!path.rest.empty() && path.rest[0] != '/' && path.rest[0] != '?') return std::nullopt;
  return path;
}

std::optional<TokenInTarget> take_token(std::string_view target) {
  const size_t question = target.find('?');
  if (question == std::string_view::npos) return std::nullopt;
  const std::string wanted = fmt::format("{}=", kPreviewParameter);
  std::optional<TokenInTarget> found;
  std::string others;
  for_each_part(target.substr(question + 1), '&', [&](std::string_view part) {
    if (!found && part.starts_with(wanted)) {
      found = TokenInTarget{std::string{part.substr(wanted.size())}, ""};
    } else {
      others += others.empty() ? '?' : '&';
      others += part;
    }
  });
  if (found) found->target = std::string{target.substr(0, question)} + others;
  return found;
}

std::string token_of(const net::HttpServerRequest& request) {
  std::string token;
  for (const auto& [name, value] : request.headers) {
    if (name == "authorization" && lower_ascii(value).starts_with("bearer ")) {
      return std::string{trimmed(std::string_view{value}.substr(7))};
    }
    if (name != "cookie") continue;
    for_each_part(value, ';', [&token](std::string_view cookie) {
      if (is_ours(cookie))
        token = cookie.substr(std::min(cookie.size(), kPreviewCookie.size() + 1));
    });
  }
  return token;
}

bool asks_for_websocket(const net::HttpServerRequest& request) {
  return request.method == "GET" && request.count("upgrade") == 1 &&
         lower_ascii(request.header("upgrade")) == "websocket";
}

std::string inner_head(const net::HttpServerRequest& request, const PreviewPath& path,
                       std::string_view origin, size_t body_size) {
  std::string head =
      fmt::format("{} {} HTTP/1.1\r\nHost: localhost:{}\r\n", request.method, path.rest, path.port);
  for (const auto& [name, value] : request.headers) {
    if (is_about_connection(name) || is_forwarding(name)) continue;
    const std::string inner = inner_value(name, value, path);
    if (!inner.empty()) head += fmt::format("{}: {}\r\n", name, inner);
  }
  const size_t scheme = origin.find("://");
  head += fmt::format("X-Forwarded-Proto: {}\r\nX-Forwarded-Host: {}\r\nX-Forwarded-Prefix: {}\r\n",
                      origin.substr(0, scheme), origin.substr(scheme + 3),
                      path.prefix().substr(0, path.prefix().size() - 1));
  if (asks_for_websocket(request))
    return head + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  const bool has_body = body_size > 0 || request.method == "POST" || request.method == "PUT";
  if (has_body) head += fmt::format("Content-Length: {}\r\n", body_size);
  return head + "Connection: close\r\n\r\n";
}

net::HttpHeaders outer_headers(const net::ResponseHead& head, const PreviewPath& path) {
  net::HttpHeaders outer;
  bool has_referrer_policy = false;
  for (const auto& [name, value] : head.headers) {
    if (is_about_connection(name) || is_about_origin(name)) continue;
    std::string shown = value;
    if (name == "location") shown = outer_location(value, path);
    if (name == "set-cookie") shown = own_cookie(value, path.prefix());
    has_referrer_policy |= name == "referrer-policy";
    if (!shown.empty()) outer.emplace_back(name, std::move(shown));
  }
  // The address has the sandbox's id, which is nobody else's business.
  if (!has_referrer_policy) outer.emplace_back("referrer-policy", "same-origin");
  return outer;
}

}  // namespace belljar::network
