#include "network/published_port.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "network/accept.h"
#include "network/address_class.h"
#include "network/relay.h"

namespace belljar::network {

namespace {

// Each connection has six descriptors, and half a MiB of pipes besides its sockets.
constexpr size_t kMaxConnections = 256;

void switch_option(int socket, int level, int option, int value) {
  sys(::setsockopt(socket, level, option, &value, sizeof value), "set up a socket");
}

[[noreturn]] void explain(int error, const asio::ip::address& address, uint16_t port) {
  if (error == EADDRINUSE && port == 0) {
    fail(Code::unavailable, "no port of the host is free; stop a sandbox that has some");
  }
  if (error == EADDRINUSE) {
    fail(Code::unavailable,
         "port {} of the host is taken by another program or sandbox; choose another port, and "
         "have the program listen on that, or pass 0 for any that is free",
         port);
  }
  if (error == EADDRNOTAVAIL) {
    fail(Code::unavailable,
         "ports are to be published on {}, but this host has no such address: the operator must "
         "change publish-address",
         address.to_string());
  }
  fail_errno(error, fmt::format("listen on port {} of {}", port, address.to_string()));
}

}  // namespace

TakenPort take_port(const asio::ip::address& wanted, uint16_t port) {
  if (port != 0 && port < kFirstPort) {
    fail(Code::invalid, "port {} is privileged; choose one from {} to 65535", port, kFirstPort);
  }
  const asio::ip::address address = unmapped(wanted);
  asio::ip::tcp::endpoint place{address, port};
  Fd socket{sys(::socket(place.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                "make a socket")};
  // Somebody who asks for a port gets it even if closed connections linger there. A port that is
  // chosen has none.
  if (port != 0) switch_option(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.is_v6()) switch_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  auto length = static_cast<socklen_t>(place.capacity());
  if (::bind(socket.get(), place.data(), static_cast<socklen_t>(place.size())) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    explain(errno, address, port);
  }
  sys(::getsockname(socket.get(), place.data(), &length), "read the number of a port");
  return {std::move(socket), place.port()};
}

std::string url_of(const asio::ip::address& wanted, uint16_t port) {
  const asio::ip::address address = unmapped(wanted);
  if (address.is_v4()) {
    const bool all = address.is_unspecified();
    return fmt::format("http://{}:{}/", all ? "127.0.0.1" : address.to_string(), port);
  }
  return fmt::format("http://[{}]:{}/", address.is_unspecified() ? "::1" : address.to_string(),
                     port);
}

PublishedPort::PublishedPort(const asio::any_io_executor& executor, TakenPort port, Connect connect)
    : listener_{executor, port.listener.release()}, connect_{std::move(connect)}, tasks_{executor} {
  tasks_.spawn("accept connections", accept());
}

Task<> PublishedPort::accept() {
  while (listener_.is_open()) {
    Fd client = co_await accept_next(listener_);
    // One more than there may be is refused at once: the client learns of it, and nobody waits.
    if (tasks_.size() <= kMaxConnections) {
      tasks_.spawn("serve a connection", serve(std::move(client)));
    }
  }
}

Task<> PublishedPort::serve(Fd client) {
  try {
    Fd inside = co_await connect_();
    co_await relay(std::move(client), std::move(inside));
  } catch (const Error& e) {
    log::debug("a connection to a published port ended: {}", e.what());
  }
}

// Not a coroutine: nobody gets in any more as soon as it is called, however long the end of the
// connections takes.
Task<> PublishedPort::stop() {
  listener_.close();
  return tasks_.stop();
}

}  // namespace belljar::network
