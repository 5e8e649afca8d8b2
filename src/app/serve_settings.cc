#include "app/serve_settings.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>

#include "app/setting_kinds.h"
#include "base/error.h"
#include "net/url.h"

namespace belljar::app {

namespace {

using Variables = std::vector<std::string>;

std::optional<ListenAddress> read_listen(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = text.substr(0, colon);
  const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (has_brackets) host = host.substr(1, host.size() - 2);
  boost::system::error_code error;
  const asio::ip::address address = asio::ip::make_address(host, error);
  if (error || host.find_first_of(std::string_view{"%\0", 2}) != std::string::npos ||
      address.is_v6() != has_brackets) {
    return std::nullopt;
  }
  ListenAddress result{address.to_string(), 0, address.is_loopback()};
  const char* const end = text.data() + text.size();
  const auto [stop, wrong] = std::from_chars(text.data() + colon + 1, end, result.port);
  if (wrong != std::errc{} || stop != end) return std::nullopt;
  return result;
}

Setting listen() {
  const auto set = [](Config& config, const std::string& text) {
    if (!read_listen(text)) return false;
    config.serve.listen = text;
    return true;
  };
  const auto show = [](const Config& config) { return config.serve.listen; };
  return {"listen",
          {"BELLJAR_LISTEN"},
          "ADDRESS:PORT such as 127.0.0.1:8765 or [::]:8765",
          "where `belljar serve` listens; port 0 is any free one",
          set,
          show};
}

Setting preview_listen() {
  const auto set = [](Config& config, const std::string& text) {
    if (!text.empty() && text != kNoPreviews && !read_listen(text)) return false;
    config.serve.preview_listen = text;
    return true;
  };
  const auto show = [](const Config& config) { return config.serve.preview_listen; };
  return {"preview-listen",
          {"BELLJAR_PREVIEW_LISTEN"},
          "ADDRESS:PORT, or none",
          "where browsers see what listens in sandboxes; without it, the port after that of listen",
          set,
          show};
}

// An https address, or http; without user, query or fragment, because it is compared and shown.
Setting url(std::string name, Variables variables, std::string help,
            std::string ServeConfig::*member) {
  const auto set = [member](Config& config, const std::string& text) {
    const auto parsed = net::parse_url(text);
    if (!parsed || !parsed->user.empty() || text.find_first_of("?#") != std::string::npos)
      return false;
    config.serve.*member = text;
    return true;
  };
  const auto show = [member](const Config& config) { return config.serve.*member; };
  return {std::move(name),
          std::move(variables),
          "an address such as https://mcp.example.com/mcp",
          std::move(help),
          set,
          show};
}

// Words separated by commas, each of which `is_good`.
Setting list(std::string name, Variables variables, std::string form, std::string help,
             std::vector<std::string> ServeConfig::*member, bool (*is_good)(const std::string&)) {
  const auto set = [member, is_good](Config& config, const std::string& text) {
    std::vector<std::string> words;
    for (size_t start = 0; start <= text.size();) {
      const size_t end = std::min(text.find(',', start), text.size());
      words.push_back(text.substr(start, end - start));
      start = end + 1;
    }
    if (!std::all_of(words.begin(), words.end(), is_good)) return false;
    config.serve.*member = std::move(words);
    return true;
  };
  const auto show = [member](const Config& config) {
    return fmt::format("{}", fmt::join(config.serve.*member, ","));
  };
  return {std::move(name), std::move(variables), std::move(form), std::move(help), set, show};
}

bool is_lower(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool is_host(const std::string& text) {
  return !text.empty() && is_lower(text) && text.find_first_of("/ @*") == std::string::npos;
}

bool is_origin(const std::string& text) {
  const auto parsed = net::parse_url(text);
  if (!parsed || !is_lower(text) || text.ends_with('/')) return false;
  return text == parsed->scheme + "://" + net::authority(*parsed);
}

bool is_scope(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > 0x20 && c < 0x7f && c != '"' && c != '\\' && c != ',';
  });
}

template <class Number>
Setting number(std::string name, Variables variables, std::string help, int64_t low, int64_t high,
               std::string unit, Number ServeConfig::*member) {
  return count(
      std::move(name), std::move(variables), std::move(help), low, high, std::move(unit),
      [member](const Config& c) {
        if constexpr (std::is_integral_v<Number>)
          return static_cast<int64_t>(c.serve.*member);
        else
          return static_cast<int64_t>((c.serve.*member).count());
      },
      [member](Config& c, int64_t v) { c.serve.*member = Number(v); });
}

std::vector<Setting> make_rows() {
  std::vector<Setting> rows;
  rows.push_back(listen());
  rows.push_back(
      url("public-url", Variables{"BELLJAR_PUBLIC_URL"},
          "the endpoint's address as clients know it, if a proxy is in between or it has "
          "a name; its host and origin are allowed",
          &ServeConfig::public_url));
  rows.push_back(preview_listen());
  rows.push_back(url("preview-url", Variables{"BELLJAR_PREVIEW_URL"},
                     "the address of previews as browsers know it, if a proxy is in between; it "
                     "must be another host or port than public-url, and has no path",
                     &ServeConfig::preview_url));
  rows.push_back(list("allowed-hosts", Variables{"BELLJAR_ALLOWED_HOSTS"},
                      "names in lower case such as mcp.example.com or 10.0.0.5:8765, separated by "
                      "commas",
                      "further names by which clients may call the server",
                      &ServeConfig::allowed_hosts, is_host));
  rows.push_back(list("allowed-origins", Variables{"BELLJAR_ALLOWED_ORIGINS"},
                      "origins such as https://app.example.com, separated by commas",
                      "web pages that may call the server", &ServeConfig::allowed_origins,
                      is_origin));
  rows.push_back(text("tls-cert", Variables{"BELLJAR_TLS_CERT"}, "a file",
                      "certificate chain (PEM) for https; with tls-key",
                      [](Config& c) -> std::string& { return c.serve.tls_certificate; }));
  rows.push_back(text("tls-key", Variables{"BELLJAR_TLS_KEY"}, "a file",
                      "private key (PEM) of tls-cert",
                      [](Config& c) -> std::string& { return c.serve.tls_key; }));
  rows.push_back(yes_or_no("no-auth", Variables{"BELLJAR_NO_AUTH"},
                           "everybody on this machine may call, without a token; only for a "
                           "loopback address",
                           [](Config& c) -> bool& { return c.serve.no_auth; }));
  rows.push_back(url("oauth-issuer", Variables{"BELLJAR_OAUTH_ISSUER"},
                     "authorization server whose access tokens (JWT, RS256 or ES256) are accepted",
                     &ServeConfig::oauth_issuer));
  rows.push_back(text("oauth-audience", Variables{"BELLJAR_OAUTH_AUDIENCE"}, "a text",
                      "what access tokens must name as their audience; without it, public-url",
                      [](Config& c) -> std::string& { return c.serve.oauth_audience; }));
  rows.push_back(list("oauth-scopes", Variables{"BELLJAR_OAUTH_SCOPES"},
                      "scopes, separated by commas", "what access tokens must have, all of them",
                      &ServeConfig::oauth_scopes, is_scope));
  rows.push_back(number("max-runs", Variables{"BELLJAR_MAX_RUNS"},
                        "programs that run at once, of all owners; more wait their turn", 1, 4000,
                        "", &ServeConfig::max_runs));
  rows.push_back(number("owner-runs", Variables{"BELLJAR_OWNER_RUNS"},
                        "programs that run at once for one owner; more wait their turn", 1, 4000,
                        "", &ServeConfig::owner_runs));
  rows.push_back(number("owner-waiting", Variables{"BELLJAR_OWNER_WAITING"},
                        "runs of one owner that may wait; more are refused", 0, 100'000, "",
                        &ServeConfig::owner_waiting));
  rows.push_back(number("owner-run-seconds", Variables{"BELLJAR_OWNER_RUN_SECONDS"},
                        "how long programs of one owner may run per minute; 0: no limit", 0,
                        1'000'000, " of seconds", &ServeConfig::owner_run_seconds));
  rows.push_back(number("owner-sandboxes", Variables{"BELLJAR_OWNER_SANDBOXES"},
                        "live sandboxes of one owner", 1, 4000, "", &ServeConfig::owner_sandboxes));
  rows.push_back(number("max-owners", Variables{"BELLJAR_MAX_OWNERS"},
                        "owners with access tokens who are served at one time", 1, 100'000, "",
                        &ServeConfig::max_owners));
  rows.push_back(yes_or_no("packages-per-owner", Variables{"BELLJAR_PACKAGES_PER_OWNER"},
                           "each owner has a store of packages of their own, as large as "
                           "packages-disk says, instead of one for all",
                           [](Config& c) -> bool& { return c.serve.packages_per_owner; }));
  rows.push_back(bytes("max-request", Variables{"BELLJAR_MAX_REQUEST"}, "the largest request",
                       16u << 10, [](Config& c) -> uint64_t& { return c.serve.max_request; }));
  rows.push_back(number("drain-timeout", Variables{"BELLJAR_DRAIN_TIMEOUT"},
                        "how long calls may go on after SIGTERM before they are cancelled", 0, 3600,
                        " of seconds", &ServeConfig::drain_timeout));
  rows.push_back(text("audit-log", Variables{"BELLJAR_AUDIT_LOG"}, "a file",
                      "where a line of JSON is added for every call",
                      [](Config& c) -> std::string& { return c.serve.audit_log; }));
  rows.push_back(text("metrics-token-file", Variables{"BELLJAR_METRICS_TOKEN_FILE"}, "a file",
                      "holds the bearer token that /metrics wants",
                      [](Config& c) -> std::string& { return c.serve.metrics_token_file; }));
  return rows;
}

}  // namespace

std::optional<ListenAddress> preview_address(const ServeConfig& config) {
  if (config.preview_listen == kNoPreviews) return std::nullopt;
  if (!config.preview_listen.empty()) return parse_listen(config.preview_listen);
  ListenAddress address = parse_listen(config.listen);
  if (address.port != 0) ++address.port;  // after the last one comes 0, which is any
  return address;
}

ListenAddress parse_listen(const std::string& text) {
  const auto address = read_listen(text);
  if (!address) fail(Code::invalid, "listen is \"{}\"; it must be ADDRESS:PORT", text);
  return *address;
}

std::vector<Setting> serve_settings() {
  std::vector<Setting> rows = make_rows();
  for (Setting& row : rows) row.only_serve = true;
  return rows;
}

}  // namespace belljar::app
