#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/fd.h"
#include "base/task_group.h"
#include "net/http_exchange.h"

namespace boost::asio::ssl {
class context;
}

namespace belljar::net {

class HttpConnection;

// What a client may take up. Times are kept within a quarter of the shortest of them.
struct HttpListenerLimits {
  size_t head = 16u << 10;             // bytes of a request's head; more is answered with 431
  size_t connections = 4096;           // at once; more are closed unheard
  size_t connections_per_peer = 4096;  // the same per address
  milliseconds head_time{10'000};      // from the first byte of a head to its last, and for TLS
  milliseconds idle{75'000};           // without a request
  milliseconds body_time{10'000};      // for a body, besides what body_rate allows
  size_t body_rate = 4u << 10;         // bytes per second that a body must have on average
  milliseconds stall{30'000};          // for the client to take 64 KiB of an answer
};

// Serves HTTP/1.1, and 1.0, on a listening TCP socket. Connections are kept open between requests;
// requests sent ahead wait their turn. A request that breaks the protocol or a limit is answered
// with 400, 408 or 431 and the end of the connection. No connection waits for another.
//
//   HttpListener listener{executor, std::move(socket), handler};
//   tasks.spawn("serve HTTP", listener.run());
//   …
//   listener.drain();   // run() ends by itself now
class HttpListener {
 public:
  // With `tls` (see make_tls_server()) it is HTTPS.
  HttpListener(asio::any_io_executor executor, Fd listener, ExchangeHandler handler,
               HttpListenerLimits limits = {}, std::shared_ptr<asio::ssl::context> tls = nullptr);
  ~HttpListener();

  // Serves until it is cancelled or, after drain(), until the exchanges have ended. All connections
  // have then ended. To be called once; must have ended before destruction.
  Task<> run();

  // Stops accepting, closes connections on which nothing is being answered, and the others after
  // their answer.
  void drain();

  // For new connections from now on: a renewed certificate.
  void use_tls(std::shared_ptr<asio::ssl::context> tls) { tls_ = std::move(tls); }

  size_t connections() const { return peers_.total; }
  uint16_t port() const { return port_; }

 private:
  struct Peers {
    size_t total = 0;
    std::map<std::string, size_t> by_address;
  };
  class Place;

  Task<> accept_all();
  Task<> watch_the_clock();
  Task<> serve(Fd socket, std::string peer);
  Task<> serve_client(Fd socket, std::string peer);
  void take(Fd socket, std::string peer);

  asio::any_io_executor executor_;
  uint16_t port_;
  ExchangeHandler handler_;
  HttpListenerLimits limits_;
  std::shared_ptr<asio::ssl::context> tls_;
  Fd listener_;
  bool draining_ = false;
  Peers peers_;
  std::set<HttpConnection*> open_;
  asio::steady_timer changed_;  // cancelled when a client leaves, and by drain()
  TaskGroup::Id accepting_id_ = 0;
  TaskGroup accepting_;
  TaskGroup clock_;
  TaskGroup clients_;
};

// The port at which a TCP socket of ours listens, IPv4 or IPv6. A unix socket that stands for one
// elsewhere has that port as the name of its file.
uint16_t listening_port(int listener);

// A TCP socket that listens at this address ("127.0.0.1", "::1") and port (0: any free one).
// Throws Error{invalid} for what is no address, and Error with the reason if it cannot.
Fd listen_on(const std::string& address, uint16_t port);

}  // namespace belljar::net
