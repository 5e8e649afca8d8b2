#include "network/accept.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"

namespace belljar::network {

namespace {

constexpr milliseconds kPause{100};

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

Task<Fd> accept_next(asio::posix::stream_descriptor& listener) {
  for (;;) {
    co_await listener.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    constexpr int kFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    Fd accepted{::accept4(listener.native_handle(), nullptr, nullptr, kFlags)};
    if (accepted) co_return accepted;
    if (!is_shortage(errno)) continue;  // whoever it was has left
    log::warning("cannot accept a connection: {}", std::strerror(errno));
    co_await sleep_for(kPause);
  }
}

}  // namespace belljar::network
