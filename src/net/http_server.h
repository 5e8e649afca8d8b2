#pragma once

#include "net/http_listener.h"

namespace belljar::net {

struct HttpServerLimits {
  size_t head = 16u << 10;    // bytes of a request; bodies are refused
  size_t connections = 64;    // at once; more are closed unheard
  milliseconds idle{30'000};  // for a whole request, and for each piece of an answer
};

// Several may run at once, one per connection. An Error it throws becomes an answer: a status that
// fits the code and {"error": message}.
using HttpHandler = std::function<Task<HttpAnswer>(HttpServerRequest)>;

// An HttpListener for the simple case: requests without a body, each with one answer. Serves until
// it is cancelled; all its connections have then ended. To be run as a task of its own, in a
// TaskGroup or beside the work that needs it:
//
//   co_await (work() || serve_http(std::move(listener), handler, limits));
Task<> serve_http(Fd listener, HttpHandler handler, HttpServerLimits limits);

}  // namespace belljar::net
