#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/task.h"
#include "net/connection_pool.h"
#include "net/proxy.h"
#include "net/tls.h"
#include "net/url.h"

namespace belljar::net {

struct HttpLimits {
  std::chrono::seconds connect{30};        // look-up, TCP, proxy and TLS together
  std::chrono::milliseconds idle{30'000};  // without a single byte
  std::chrono::seconds total{600};         // all redirects and the whole body
  uint64_t body = 64u << 20;               // bytes; more is an Error
  int redirects = 5;
};

struct HttpSettings {
  TlsSettings tls;
  ProxySettings proxy;
  std::string user_agent = "belljar";
};

struct HttpRequest {
  Url url;
  std::vector<std::pair<std::string, std::string>> headers;
  HttpLimits limits;
  // Where a connection is taken from and kept for the next request; null: one connection for this
  // request only. All requests with one pool must be of the same client.
  ConnectionPool* connections = nullptr;
};

struct HttpResponse {
  int status = 0;
  Url url;           // after redirects
  std::string body;  // with a sink: only of an answer that is not 2xx, and at most its first 4 KiB
};

// Receives the body of a 2xx answer piece by piece (at most 64 KiB each) and how large all of it
// will be (0 if the server does not say). What it throws ends the transfer and reaches the caller
// of get().
using BodySink = std::function<void(std::string_view piece, uint64_t total)>;

// Fetches things over HTTP/1.1 and TLS. Belongs to the loop; any number of requests may run at
// once, and each must have ended before the client is destroyed.
//
//   HttpClient client{settings};
//   HttpRequest request{.url = *parse_url(text)};
//   const HttpResponse response = co_await client.get(std::move(request));
//
// Certificates are read by the first request that needs them, and a CA file that cannot be read is
// the error of that request. Every status is an answer; what kept us from getting one throws
// Error{unavailable} that names the address (never user, password or headers) and what to try.
// Cancelling closes the connection at once. Authorization and cookies are dropped when a redirect
// leads to another scheme, host or port.
class HttpClient {
 public:
  explicit HttpClient(HttpSettings settings);
  ~HttpClient();

  Task<HttpResponse> get(HttpRequest request);
  Task<HttpResponse> get(HttpRequest request, BodySink sink);

 private:
  Task<HttpResponse> follow(HttpRequest& request, const BodySink& sink);
  Task<HttpResponse> get_once(const HttpRequest& request, const BodySink& sink,
                              std::string& location);
  Task<asio::ssl::context*> tls_for(const Url& url, const std::optional<Url>& proxy);
  Task<std::unique_ptr<Stream>> connect(const HttpRequest& request);

  HttpSettings settings_;
  std::shared_ptr<asio::ssl::context> tls_;
};

}  // namespace belljar::net
