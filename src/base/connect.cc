#include "base/connect.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>

namespace belljar {

Task<int> connect_socket(int socket, asio::ip::tcp::endpoint to) {
  if (::connect(socket, to.data(), static_cast<socklen_t>(to.size())) == 0) co_return 0;
  if (errno != EINPROGRESS) co_return errno;
  // Asio closes what it waits for.
  const int copy = sys(::fcntl(socket, F_DUPFD_CLOEXEC, 0), "copy a socket");
  asio::posix::stream_descriptor waiting{co_await asio::this_coro::executor, copy};
  co_await waiting.async_wait(asio::posix::stream_descriptor::wait_write, asio::use_awaitable);
  int error = 0;
  socklen_t size = sizeof error;
  sys(::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size), "connect");
  co_return error;
}

}  // namespace belljar
