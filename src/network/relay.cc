#include "network/relay.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/multiple_exceptions.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include "base/posix.h"

namespace belljar::network {

namespace {

using Socket = asio::posix::stream_descriptor;

constexpr size_t kPiece = 256u << 10;  // what one direction may hold in the kernel
// After so many pieces without a pause whoever else waits for the loop gets a turn.
constexpr int kPiecesPerTurn = 16;

bool would_block(ssize_t result) {
  return result < 0 && (errno == EAGAIN || errno == EINTR);
}

Task<> drain(int pipe, Socket& to, size_t left) {
  while (left > 0) {
    const ssize_t sent = ::splice(pipe, nullptr, to.native_handle(), nullptr, left,
                                  SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (would_block(sent)) {
      co_await to.async_wait(Socket::wait_write, asio::use_awaitable);
    } else {
      sys(sent, "send");
      left -= static_cast<size_t>(sent);
    }
  }
}

// From one socket to the other until the first ends.
Task<> pump(Socket& from, Socket& to, uint64_t* count) {
  const Pipe pipe = make_pipe();
  ::fcntl(pipe.write.get(), F_SETPIPE_SZ, static_cast<int>(kPiece));  // the default will do, too
  for (int pieces = 1;; ++pieces) {
    const ssize_t size = ::splice(from.native_handle(), nullptr, pipe.write.get(), nullptr, kPiece,
                                  SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (size == 0) break;
    if (would_block(size)) {
      co_await from.async_wait(Socket::wait_read, asio::use_awaitable);
      continue;
    }
    sys(size, "receive");
    if (count != nullptr) *count += static_cast<uint64_t>(size);
    co_await drain(pipe.read.get(), to, static_cast<size_t>(size));
    if (pieces % kPiecesPerTurn == 0) co_await asio::post(asio::use_awaitable);
  }
  ::shutdown(to.native_handle(), SHUT_WR);
}

void set_linger(int socket, const linger& how) {
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &how, sizeof how);
}

}  // namespace

void send_at_once(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // not TCP: nothing to set
}

void reset_at_close(int socket) {
  set_linger(socket, {1, 0});
}

void close_gently(int socket) {
  set_linger(socket, {0, 0});
}

Task<> relay(Fd one, Fd other, std::shared_ptr<uint64_t> count) {
  using namespace asio::experimental::awaitable_operators;
  const auto executor = co_await asio::this_coro::executor;
  send_at_once(one.get());
  send_at_once(other.get());
  Socket left{executor, one.release()};
  Socket right{executor, other.release()};
  std::exception_ptr failure;
  // A failure of either direction cancels the other: nobody would read what it carries.
  try {
    co_await (pump(left, right, count.get()) && pump(right, left, count.get()));
    co_return;
  } catch (const asio::multiple_exceptions& e) {
    failure = e.first_exception();
  } catch (...) {
    failure = std::current_exception();
  }
  reset_at_close(left.native_handle());
  reset_at_close(right.native_handle());
  std::rethrow_exception(failure);
}

}  // namespace belljar::network
