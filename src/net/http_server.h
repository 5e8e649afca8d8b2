#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/task.h"

namespace belljar::net {

struct HttpServerRequest {
  std::string method;
  std::string target;                                        // as sent: path and query
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case

  // The first header of that (lower case) name, or "".
  std::string_view header(std::string_view name) const;
};

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  Fd file;  // if set, instead of `body`: the first `size` bytes of it, which must be there
  uint64_t size = 0;
};

struct HttpServerLimits {
  uint32_t head = 16u << 10;               // bytes of a request; bodies are refused
  size_t connections = 64;                 // at once; more are closed unheard
  std::chrono::milliseconds idle{30'000};  // for a whole request, and for each piece of an answer
};

// Several may run at once, one per connection. An Error it throws becomes an answer: a status that
// fits the code and {"error": message}.
using HttpHandler = std::function<Task<HttpAnswer>(HttpServerRequest)>;

// Serves HTTP/1.1 on a listening TCP socket until it is cancelled; all its connections have then
// ended. To be run as a task of its own, in a TaskGroup or beside the work that needs it:
//
//   co_await (work() || serve_http(std::move(listener), handler, limits));
//
// Connections are kept open between requests; a request that breaks the protocol or a limit is
// answered with 400 and the end of the connection. Every answer says that it must not be cached.
Task<> serve_http(Fd listener, HttpHandler handler, HttpServerLimits limits);

// The port at which a TCP socket of ours listens.
uint16_t listening_port(int listener);

}  // namespace belljar::net
