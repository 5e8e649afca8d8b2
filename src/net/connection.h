#pragma once

#include <memory>
#include <optional>

#include "net/stream.h"
#include "net/url.h"

namespace boost::asio::ssl {
class context;
}

namespace belljar::net {

// Opens a connection to the host of `url`, directly or through `proxy`: TCP, then for https (also
// through the proxy, by CONNECT) TLS with the host checked. To an http address through a proxy the
// result is the connection to the proxy, which then wants the full address in the request line.
// Sockets are close-on-exec. Throws Error{unavailable} that names the host, the step and what to
// try; takes as long as the network lets it, so the caller sets the limit.
Task<std::unique_ptr<Stream>> open_connection(Url url, std::optional<Url> proxy,
                                              asio::ssl::context& tls);

// The value of an Authorization or Proxy-Authorization header for the user and password of a URL,
// or "" if it has none.
std::string basic_authorization(const Url& url);

}  // namespace belljar::net
