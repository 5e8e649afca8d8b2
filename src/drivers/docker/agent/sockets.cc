#include "drivers/docker/agent/sockets.h"

#include <netinet/in.h>
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

int bind_to_loopback(int socket, bool ipv6) {
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 here6{};
  here6.sin6_family = AF_INET6;
  here6.sin6_addr = in6addr_loopback;
  if (ipv6) return ::bind(socket, reinterpret_cast<const sockaddr*>(&here6), sizeof here6);
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&here), sizeof here);
}

}  // namespace

int make_tcp_socket(bool ipv6, bool listening, Fd& result) {
  constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  Fd socket{::socket(ipv6 ? AF_INET6 : AF_INET, kType, 0)};
  if (!socket) return errno;
  if (listening && (bind_to_loopback(socket.get(), ipv6) != 0 || ::listen(socket.get(), 128) != 0))
    return errno;
  result = std::move(socket);
  return 0;
}

}  // namespace belljar::agent
