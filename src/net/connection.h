#pragma once

#include <memory>
#include <optional>

#include "base/fd.h"
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
// try; takes as long as the network lets it, so the caller sets the limit. `tls` may be null if
// neither address is https.
Task<std::unique_ptr<Stream>> open_connection(Url url, std::optional<Url> proxy,
                                              asio::ssl::context* tls);

// TLS over a socket that is connected already and does not block, as the client of a server that
// must prove to be `host`. Throws Error{unavailable} that says why it did not.
Task<std::unique_ptr<Stream>> start_tls(Fd socket, std::string host, asio::ssl::context& tls);

// The same as the server. A client that cannot be agreed with is a boost::system::system_error.
Task<std::unique_ptr<Stream>> accept_tls(Fd socket, asio::ssl::context& tls);

// A connection to the unix socket at `path`, close-on-exec. Throws boost::system::system_error if
// nobody answers there.
Task<std::unique_ptr<Stream>> open_unix_connection(std::string path);

// A connected TCP socket that does not block, as a stream.
std::unique_ptr<Stream> plain_stream(const asio::any_io_executor& executor, Fd socket);

// The value of an Authorization or Proxy-Authorization header for the user and password of a URL,
// or "" if it has none.
std::string basic_authorization(const Url& url);

}  // namespace belljar::net
