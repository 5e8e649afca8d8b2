#pragma once

#include <memory>
#include <string>

#include "app/config.h"
#include "app/serve_settings.h"
#include "base/fd.h"
#include "net/http_client.h"
#include "serve/bearer_tokens.h"

namespace boost::asio::ssl {
class context;
}

namespace belljar::app {

// What `belljar serve` needs of the rights with which it was started: its port, certificates,
// tokens, the audit log.
struct ServeParts {
  ListenAddress address;  // with the port that it really is
  Fd listener;
  std::optional<ListenAddress> preview_address;  // the same for previews; nothing: there are none
  Fd preview_listener;
  std::shared_ptr<boost::asio::ssl::context> tls;  // null: plain HTTP
  serve::BearerTokens tokens;
  std::vector<std::string> names;  // of the owners who have a token
  std::string metrics_sha256;      // of the token for /metrics; "": there is none
  Fd audit;                        // may be empty
  net::HttpSettings http;          // to ask an issuer for its keys

  // If nothing else is configured.
  std::string public_url() const;
  std::string preview_url() const;
};

// The owner of the token that is made at the first start, and of everything without tokens.
constexpr const char* kOnlyOwner = "owner";

// Error{invalid}, with the reason, for settings that contradict each other or would let strangers
// in.
void check_serve_settings(const Config& config);

// Opens everything, and tells on stderr how clients get in.
ServeParts open_serve_parts(const Config& config);

// The token in this file, which is made if there is none; `made` says so. Error if others than its
// owner may read it.
std::string own_token(const std::string& path, bool& made);

}  // namespace belljar::app
