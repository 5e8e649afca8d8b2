#include "base/connect.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/fd.h"
#include "base/testing.h"

namespace belljar {
namespace {

using asio::ip::tcp;

const tcp::endpoint kAnyPort{asio::ip::address_v4::loopback(), 0};

Fd make_socket() {
  return Fd{sys(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "make a socket")};
}

Task<> connects() {
  const auto executor = co_await asio::this_coro::executor;
  tcp::acceptor listener{executor, kAnyPort};
  const Fd socket = make_socket();
  EXPECT_EQ(co_await connect_socket(socket.get(), listener.local_endpoint()), 0);
  const tcp::socket accepted = co_await listener.async_accept(asio::use_awaitable);
  EXPECT_EQ(::send(socket.get(), "x", 1, MSG_NOSIGNAL), 1);
}

TEST(ConnectSocket, IsConnectedWhenItReturns) {
  run(connects());
}

Task<> is_refused() {
  const auto executor = co_await asio::this_coro::executor;
  tcp::acceptor listener{executor, kAnyPort};
  const tcp::endpoint nobody = listener.local_endpoint();
  listener.close();
  const Fd socket = make_socket();
  EXPECT_EQ(co_await connect_socket(socket.get(), nobody), ECONNREFUSED);
}

TEST(ConnectSocket, SaysWhyItIsNot) {
  run(is_refused());
}

Task<> fails_at_once() {
  const Fd socket = make_socket();
  const tcp::endpoint other_family{asio::ip::address_v6::loopback(), 1};
  EXPECT_EQ(co_await connect_socket(socket.get(), other_family), EAFNOSUPPORT);
  EXPECT_EQ(co_await connect_socket(-1, kAnyPort), EBADF);
}

TEST(ConnectSocket, NeedNotWaitForWhatCannotBe) {
  run(fails_at_once());
}

Task<> is_cancelled() {
  const auto executor = co_await asio::this_coro::executor;
  tcp::acceptor listener{executor, tcp::v4()};
  listener.bind(kAnyPort);
  listener.listen(0);
  const tcp::endpoint to = listener.local_endpoint();
  // One may wait to be accepted. After it the kernel answers nobody.
  const Fd first = make_socket();
  EXPECT_EQ(co_await connect_socket(first.get(), to), 0);
  const Fd second = make_socket();
  const auto error = co_await with_timeout(milliseconds{20}, connect_socket(second.get(), to));
  EXPECT_FALSE(error);
  int kind = 0;
  socklen_t size = sizeof kind;
  EXPECT_EQ(::getsockopt(second.get(), SOL_SOCKET, SO_TYPE, &kind, &size), 0);
  EXPECT_EQ(kind, SOCK_STREAM);
}

TEST(ConnectSocket, LeavesTheSocketToTheCallerWhenItIsCancelled) {
  run(is_cancelled());
}

}  // namespace
}  // namespace belljar
