#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/task.h"

namespace belljar::net {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpServerRequest {
  std::string method;
  std::string target;   // as sent: path and query
  HttpHeaders headers;  // names in lower case, values without blanks around them
  std::string peer;     // the client's address without its port; "" if it has none

  // The first header of that (lower case) name, or "".
  std::string_view header(std::string_view name) const;

  // How many headers have that (lower case) name.
  size_t count(std::string_view name) const;

  // The target without its query.
  std::string_view path() const;
};

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json";  // "": without a Content-Type
  std::string body = {};
  HttpHeaders headers = {};  // further ones; without Cache-Control, it is no-store
  Fd file = {};  // if set, instead of `body`: its first `size` bytes, which must be there
  uint64_t size = 0;
};

// {"error": message}, the way in which everything that is not MCP says that it failed.
HttpAnswer error_answer(int status, std::string_view message);

// One request of a client, and the way to answer it: either answer(), or begin(), any number of
// write()s and finish(). One task reads the body and answers; until_gone() may be awaited beside
// it. Abstract, so that tests need no socket.
//
// What a client does to its connection throws boost::system::system_error out of everything but
// until_gone(). A handler need not catch it.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;

  virtual const HttpServerRequest& request() const = 0;

  // The whole body. Error{exhausted} if it is longer: where its length is announced, before a byte
  // of it is read.
  virtual Task<std::string> read_body(size_t most) = 0;

  virtual Task<> answer(HttpAnswer answer) = 0;

  // An answer whose length is not known yet. Every write() is on its way when it returns; one that
  // the client does not take for too long throws. After begin(101, …) bytes are sent as they are,
  // and there is no finish().
  virtual Task<> begin(int status, HttpHeaders headers) = 0;
  virtual Task<> write(std::string_view bytes) = 0;
  virtual Task<> finish() = 0;

  // What the client sends after begin(101, …), when both speak another protocol; 0 at its end. May
  // be awaited beside a write().
  virtual Task<size_t> read_raw(std::span<char> buffer) = 0;

  // Ends when the client has hung up, or closed its side of the connection, which for all we know
  // is the same. Can be cancelled, and called again.
  virtual Task<> until_gone() = 0;
};

// Several may run at once, one per connection. If it throws an Error before it has begun to answer,
// the client gets a status that fits the code and {"error": message}. An exchange that it leaves
// without a complete answer ends the connection.
using ExchangeHandler = std::function<Task<>(HttpExchange&)>;

}  // namespace belljar::net
