#pragma once

#include <cstdint>

#include "base/fd.h"

namespace belljar::agent {

// The connection to belljar at this path. Blocks until it is there. Empty if nobody listens.
Fd connect_to(const char* path);

// A TCP socket that listens at the loopback address and a free port, and does not block. 0 or an
// errno.
int listen_on_loopback(Fd& result);

// The way to a port of a loopback address: one at which a server listens, IPv4 or else IPv6. Does
// not block.
class LoopbackConnection {
 public:
  explicit LoopbackConnection(uint16_t port) : port_{port} {}

  // 0 once it is connected, EINPROGRESS while socket() is not ready to be written to, or why it
  // cannot be connected.
  int go_on();

  int socket() const { return socket_.get(); }
  Fd take() { return std::move(socket_); }

 private:
  int start(int family);

  uint16_t port_;
  bool tries_ipv6_ = false;
  Fd socket_;
};

}  // namespace belljar::agent
