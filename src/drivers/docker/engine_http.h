#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/task.h"
#include "drivers/docker/engine_address.h"
#include "drivers/docker/engine_dialer.h"
#include "net/stream.h"

namespace boost::asio::ssl {
class context;
}

namespace belljar::docker {

struct EngineRequest {
  std::string method = "GET";
  std::string target;                       // path and query as they go on the wire: see segment()
  std::string body;                         // JSON; "" for none
  std::string registry_auth;                // of a pull: see registry_auth(); "" for nobody
  std::chrono::milliseconds limit{60'000};  // for everything
  uint64_t largest_body = 16u << 20;        // bytes of the answer; more is an Error
};

struct EngineAnswer {
  int status = 0;
  std::string body;  // with a sink: only of an answer that is not 2xx
};

// Receives the body of a 2xx answer piece by piece. What it throws ends the request.
using EngineSink = std::function<void(std::string_view piece)>;

// Who connects to the engine's unix socket. By a process: belljar is going to lose the right to.
enum class Dial { by_itself, by_process };

// Speaks HTTP/1.1 with an engine, one connection per request. Belongs to the loop; any number of
// requests may run at once, and each must have ended before it is destroyed. Every status is an
// answer. What kept us from getting one throws Error{unavailable} that says what to start or to
// try. Cancelling closes the connection, at which engines give up what they were asked for, if
// they can.
class EngineHttp {
 public:
  // Does what needs the rights of the start. Reads certificates, if the address has any, and throws
  // Error{invalid} that names a bad one.
  explicit EngineHttp(EngineAddress address, Dial dial = Dial::by_itself);
  ~EngineHttp();

  const EngineAddress& address() const { return address_; }

  Task<EngineAnswer> ask(EngineRequest request);
  Task<EngineAnswer> ask(EngineRequest request, EngineSink sink);

  // The connection itself, once the engine has agreed to speak something else on it; it does not
  // block. Not to be had with TLS.
  Task<Fd> upgrade(EngineRequest request);

 private:
  Task<Fd> connect_plainly();
  Task<Fd> exchange_for_connection(const EngineRequest& request);
  Task<std::unique_ptr<net::Stream>> connect();
  Task<std::unique_ptr<net::Stream>> connect_tcp();
  Task<std::unique_ptr<net::Stream>> connect_by_process();
  Task<EngineAnswer> exchange(const EngineRequest& request, const EngineSink& sink);

  EngineAddress address_;
  std::shared_ptr<asio::ssl::context> tls_;
  std::unique_ptr<EngineDialer> dialer_;  // null: we connect ourselves
};

// `text` as one segment of a path or one value of a query: all but letters, digits, '-', '.', '_'
// and '~' are percent-encoded.
std::string segment(std::string_view text);

}  // namespace belljar::docker
