#include "network/published_port.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "network/relay.h"

namespace belljar::network {

namespace {

constexpr uint16_t kFirstPort = 1024;

// Each connection has six descriptors, and half a MiB of pipes besides its sockets.
constexpr size_t kMaxConnections = 256;

// How long nothing is accepted when the process or the host is out of something.
constexpr milliseconds kPause{100};

Fd listen_on(uint16_t port) {
  if (port < kFirstPort) {
    fail(Code::invalid, "port {} is privileged; choose one from {} to 65535", port, kFirstPort);
  }
  Fd socket{sys(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "make a socket")};
  const int on = 1;
  sys(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "set up a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(socket.get(), any, sizeof address) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
    if (errno == EADDRINUSE) {
      fail(Code::unavailable,
           "port {} of the host is taken by another program or sandbox; choose another port, and "
           "have the program listen on that",
           port);
    }
    fail_errno(errno, fmt::format("listen on port {} of the host", port));
  }
  return socket;
}

}  // namespace

PublishedPort::PublishedPort(const asio::any_io_executor& executor, uint16_t port, Connect connect)
    : listener_{executor, listen_on(port).release()},
      connect_{std::move(connect)},
      tasks_{executor} {
  tasks_.spawn("accept connections", accept());
}

Task<> PublishedPort::accept() {
  for (;;) {
    co_await listener_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    Fd client{::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!client && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
      log::warning("cannot accept a connection to a published port: {}", std::strerror(errno));
      co_await sleep_for(kPause);
    }
    // One more than there may be is refused at once: the client learns of it, and nobody waits.
    if (client && tasks_.size() <= kMaxConnections) {
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

Task<> PublishedPort::stop() {
  co_await tasks_.stop();
  listener_.close();
}

}  // namespace belljar::network
