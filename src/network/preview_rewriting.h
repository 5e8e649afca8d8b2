#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_exchange.h"
#include "net/http_response_parser.h"

// What changes in requests and answers on the way between a browser and a port of a sandbox. No
// input or output here. Both sides are strangers: the browser shows pages that somebody wrote, and
// the server in the sandbox was written by a model.
namespace belljar::network {

// The cookie by which a browser that came with a link's token is known from then on.
constexpr std::string_view kPreviewCookie = "belljar-preview";

// The parameter of a link that has the token.
constexpr std::string_view kPreviewParameter = "belljar-token";

// `/preview/ID/PORT/…`: what a request is about.
struct PreviewPath {
  std::string id;
  uint16_t port = 0;
  std::string rest;  // path and query inside; "" if not even the slash after the port is there

  // "/preview/ID/PORT/": all that belongs to this port begins with it.
  std::string prefix() const;
};

// Nothing if it is no such path.
std::optional<PreviewPath> read_preview_path(std::string_view target);

// The token that a link brought, and the target without it.
struct TokenInTarget {
  std::string token;
  std::string target;
};
std::optional<TokenInTarget> take_token(std::string_view target);

// The token that a browser keeps as a cookie, or a program sends as "Bearer …"; "" for none.
std::string token_of(const net::HttpServerRequest& request);

// True if the request wants to go on as a WebSocket.
bool asks_for_websocket(const net::HttpServerRequest& request);

// The head of the request as the server in the sandbox gets it. It believes to be at
// localhost:PORT, as when it was written; where it is seen from outside is in X-Forwarded-….
// `origin` is that of the previews, "http://127.0.0.1:8766".
std::string inner_head(const net::HttpServerRequest& request, const PreviewPath& path,
                       std::string_view origin, size_t body_size);

// The headers of its answer as the browser gets them: cookies and redirections stay beneath the
// prefix, and nothing speaks for the origin as a whole, which other previews share.
net::HttpHeaders outer_headers(const net::ResponseHead& head, const PreviewPath& path);

}  // namespace belljar::network
