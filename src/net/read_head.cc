#include "net/read_head.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/error.h"

namespace belljar::net {

Task<std::string> read_head(asio::posix::stream_descriptor& socket, size_t limit) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const int fd = socket.native_handle();
  std::string head;
  std::array<char, 4096> buffer;
  while (head.size() < limit) {
    co_await socket.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    const size_t before = head.size();
    const size_t room = std::min(buffer.size(), limit - before);
    const ssize_t seen = ::recv(fd, buffer.data(), room, MSG_PEEK | MSG_DONTWAIT);
    if (seen < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (seen <= 0) co_return std::string{};
    head.append(buffer.data(), static_cast<size_t>(seen));
    const size_t end = head.find(kEnd, before - std::min(before, kEnd.size() - 1));
    if (end != std::string::npos) head.resize(end + kEnd.size());
    const size_t taken = head.size() - before;
    if (::recv(fd, buffer.data(), taken, MSG_DONTWAIT) != static_cast<ssize_t>(taken))
      co_return std::string{};
    if (end != std::string::npos) co_return head;
  }
  fail(Code::invalid, "the head of the message has more than {} bytes", limit);
}

}  // namespace belljar::net
