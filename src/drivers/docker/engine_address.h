#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/url.h"

namespace belljar::docker {

// Where a container engine listens. A value.
struct EngineAddress {
  std::string socket;           // path of a unix socket; "" if `url` says where
  std::optional<net::Url> url;  // http or https, of this host
  std::string cert_path;        // directory with ca.pem, cert.pem and key.pem; "" for none
};

// Where engines listen unless told otherwise.
inline constexpr std::string_view kDefaultEngine = "unix:///var/run/docker.sock";

// What `docker-host` or DOCKER_HOST says: "unix:///run/docker.sock", "tcp://127.0.0.1:2376"; "" is
// kDefaultEngine. A tcp address with a `cert_path` is spoken to by TLS, to an engine that proves
// itself by ca.pem; DOCKER_TLS_VERIFY and DOCKER_CERT_PATH are the caller's matter. Throws
// Error{invalid} that says what is allowed, also for an engine on another host: sandboxes share
// directories and sockets with belljar, which must be the same ones there.
EngineAddress parse_engine_address(std::string_view text, std::string cert_path = "");

// For people: "unix:///run/docker.sock".
std::string to_string(const EngineAddress& address);

}  // namespace belljar::docker
