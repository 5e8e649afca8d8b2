#include "drivers/docker/agent/sockets.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace belljar::agent {

Fd connect_to(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) return Fd{};
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  Fd socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
  if (!socket ||
      ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return Fd{};
  return socket;
}

namespace {

constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

sockaddr_in6 loopback6(uint16_t port) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  address.sin6_addr = in6addr_loopback;
  return address;
}

// Of a connection that was under way.
int error_of(int socket) {
  pollfd ready{socket, POLLOUT, 0};
  if (::poll(&ready, 1, 0) == 0) return EINPROGRESS;
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

}  // namespace

int listen_on_loopback(Fd& result) {
  const sockaddr_in here = loopback(0);
  Fd socket{::socket(AF_INET, kType, 0)};
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
      ::listen(socket.get(), 128) != 0)
    return errno;
  result = std::move(socket);
  return 0;
}

int LoopbackConnection::start(int family) {
  socket_.reset(::socket(family, kType, 0));
  if (!socket_) return errno;
  const sockaddr_in to = loopback(port_);
  const sockaddr_in6 to6 = loopback6(port_);
  const int status =
      family == AF_INET
          ? ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to)
          : ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to6), sizeof to6);
  return status == 0 ? 0 : errno;
}

int LoopbackConnection::go_on() {
  const int error = socket_ ? error_of(socket_.get()) : start(AF_INET);
  if (error == 0 || error == EINPROGRESS || tries_ipv6_) return error;
  tries_ipv6_ = true;
  const int second = start(AF_INET6);
  return second == EAFNOSUPPORT ? error : second;
}

}  // namespace belljar::agent
