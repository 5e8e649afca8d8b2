#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "net/http_exchange.h"
#include "network/preview_rewriting.h"
#include "sandbox/sandboxes.h"

namespace belljar::network {

// Shows browsers what listens in sandboxes, at `/preview/ID/PORT/…` of a listener of its own: a
// page from a sandbox must never have the origin of the endpoint. Whoever has a link may look, as
// long as the sandbox lives; only its owner is given one. HTTP, event streams and WebSockets.
class Previews {
 public:
  // `origin` is how clients reach the listener, "http://127.0.0.1:8766".
  Previews(Sandboxes& sandboxes, std::string origin);

  // The link to a port of a sandbox of this owner: always the same one.
  std::string link(const std::string& owner, const std::string& id, uint16_t port);

  // Answers one request to the listener. An ExchangeHandler.
  Task<> handle(net::HttpExchange& exchange);

 private:
  using Key = std::pair<std::string, uint16_t>;  // id and port
  struct Link {
    std::string owner;
    std::string token;
  };

  void forget_ended();
  const Link* find(const PreviewPath& path, const std::string& token) const;
  Task<> welcome(net::HttpExchange& exchange, const PreviewPath& path, TokenInTarget token);
  Task<> show(net::HttpExchange& exchange, PreviewPath path, std::string owner);
  net::HttpAnswer redirection(std::string target) const;

  Sandboxes& sandboxes_;
  std::string origin_;
  std::map<Key, Link> links_;
  size_t tidy_at_ = 64;  // links, when those of sandboxes that are gone are forgotten
};

}  // namespace belljar::network
