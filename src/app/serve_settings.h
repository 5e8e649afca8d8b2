#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/token_settings.h"

namespace belljar::app {

// What `belljar serve` can be told beside what all commands can.
struct ServeConfig {
  std::string listen = "127.0.0.1:8765";
  std::string preview_listen;  // "": the port after that of `listen`; "none": no previews
  std::string preview_url;     // the origin of previews as browsers know it; "": as they listen
  std::string public_url;      // the endpoint's address as clients know it; "": that of `listen`
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> allowed_origins;
  std::string tls_certificate;
  std::string tls_key;
  bool no_auth = false;
  std::string oauth_issuer;
  std::string oauth_audience;  // "": the public URL
  std::vector<std::string> oauth_scopes = {"mcp"};
  size_t max_runs = 64;
  size_t owner_sandboxes = 64;
  size_t owner_runs = 16;
  size_t owner_waiting = 256;
  std::chrono::seconds owner_run_seconds{0};
  size_t max_owners = 256;
  bool packages_per_owner = false;
  uint64_t max_request = 4u << 20;
  std::chrono::seconds drain_timeout{30};
  std::string audit_log;
  std::string metrics_token_file;
  std::vector<TokenSetting> tokens;  // from the TOML file only
};

struct ListenAddress {
  std::string host;  // an IPv4 or IPv6 address, without brackets
  uint16_t port = 0;
  bool is_loopback = false;
};

// "127.0.0.1:8765", "[::1]:8765". Error{invalid} for another form.
ListenAddress parse_listen(const std::string& text);

// Where previews are to be; nothing: nowhere.
constexpr const char* kNoPreviews = "none";
std::optional<ListenAddress> preview_address(const ServeConfig& config);

}  // namespace belljar::app
