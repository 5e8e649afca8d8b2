#include "mcp/socket_transport.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/log.h"

namespace belljar::mcp {

namespace {

// After an accept() that failed for want of descriptors or memory: it would fail again at once.
constexpr milliseconds kPause{500};

}  // namespace

bool is_trusted_peer(int socket, uid_t trusted) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == ::geteuid() || peer.uid == trusted;
}

SocketTransport::SocketTransport(const asio::any_io_executor& executor, Server& server, Fd listener,
                                 SocketOptions options)
    : server_{server}, options_{options}, listener_{executor, listener.get()}, clients_{executor} {
  listener.release();
  listener_.native_non_blocking(true);
}

Task<> SocketTransport::run() {
  try {
    co_await accept_all();
  } catch (const boost::system::system_error& e) {
    if (e.code() != asio::error::operation_aborted) log::info("local clients: {}", e.what());
  }
  // A cancelled task cannot wait for anything, and there are tasks to wait for.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await clients_.stop();
  co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
}

Task<> SocketTransport::accept_all() {
  while (true) {
    co_await listener_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    Fd client{::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (client) {
      take(std::move(client));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      co_await sleep_for(kPause);
    }
  }
}

void SocketTransport::take(Fd client) {
  if (!is_trusted_peer(client.get(), options_.trusted_peer)) {
    log::warning("a process of another user tried to connect and was turned away");
    return;
  }
  if (clients_.size() >= options_.max_clients) {
    log::info("a local client was turned away: {} are connected", clients_.size());
    return;
  }
  clients_.spawn("serve a local client", serve(std::move(client)));
}

Task<> SocketTransport::serve(Fd client) {
  StdioOptions options = options_.lines;
  options.input = client.get();
  options.output = client.get();
  StdioTransport transport{co_await asio::this_coro::executor, server_, options};
  client.reset();  // the transport has its own
  co_await transport.run();
}

}  // namespace belljar::mcp
