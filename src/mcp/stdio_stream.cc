#include "mcp/stdio_stream.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>

#include "base/error.h"

namespace belljar::mcp {

namespace {

constexpr size_t kChunk = 64u << 10;

// epoll refuses, with EPERM, what is always ready.
bool can_wait_for(int fd) {
  const Fd epoll{sys(::epoll_create1(EPOLL_CLOEXEC), "create an epoll instance")};
  epoll_event event{};
  return ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) == 0 || errno != EPERM;
}

// A second opening of the same pipe or terminal, or nothing where that does not work.
Fd open_again(int fd, StdioStream::Direction direction) {
  struct stat status {};
  sys(::fstat(fd, &status), "examine descriptor {}", fd);
  if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode)) return Fd{};
  const int mode = direction == StdioStream::Direction::input ? O_RDONLY : O_WRONLY;
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  return Fd{::open(path.c_str(), mode | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)};
}

std::string read_some(int fd) {
  std::string data(kChunk, '\0');
  const ssize_t size = sys(::read(fd, data.data(), data.size()), "read input");
  data.resize(static_cast<size_t>(size));
  return data;
}

// Returns the number of bytes, so that there is something for run_blocking() to hand back.
size_t write_all(int fd, std::string_view data) {
  size_t done = 0;
  while (done < data.size()) {
    const std::string_view rest = data.substr(done);
    done += static_cast<size_t>(sys(::write(fd, rest.data(), rest.size()), "write output"));
  }
  return done;
}

}  // namespace

StdioStream::StdioStream(const asio::any_io_executor& executor, int fd, Direction direction) {
  if (!can_wait_for(fd)) {
    blocking_ = Fd{sys(::fcntl(fd, F_DUPFD_CLOEXEC, 3), "duplicate descriptor {}", fd)};
    return;
  }
  buffer_.resize(direction == Direction::input ? kChunk : 0);
  Fd own = open_again(fd, direction);
  if (!own) {
    own = Fd{sys(::fcntl(fd, F_DUPFD_CLOEXEC, 3), "duplicate descriptor {}", fd)};
    const int flags = sys(::fcntl(own.get(), F_GETFL), "read the flags of descriptor {}", fd);
    sys(::fcntl(own.get(), F_SETFL, flags | O_NONBLOCK), "make descriptor {} non-blocking", fd);
    flags_to_restore_ = flags;
  }
  polled_.emplace(executor, own.get());
  own.release();
}

StdioStream::~StdioStream() {
  if (!flags_to_restore_) return;
  const Fd own{polled_->release()};
  ::fcntl(own.get(), F_SETFL, *flags_to_restore_);
}

Task<std::string_view> StdioStream::read() {
  if (blocking_) {
    auto work = [fd = blocking_.get()] { return read_some(fd); };
    buffer_ = co_await run_blocking(work);
    co_return std::string_view{buffer_};
  }
  boost::system::error_code error;
  const size_t size = co_await polled_->async_read_some(
      asio::buffer(buffer_), asio::redirect_error(asio::use_awaitable, error));
  if (error && error != asio::error::eof) throw boost::system::system_error{error};
  co_return std::string_view{buffer_}.substr(0, size);
}

Task<> StdioStream::write(std::string data) {
  if (blocking_) {
    auto work = [fd = blocking_.get(), text = std::move(data)] { return write_all(fd, text); };
    co_await run_blocking(std::move(work));
    co_return;
  }
  co_await asio::async_write(*polled_, asio::buffer(data), asio::use_awaitable);
}

}  // namespace belljar::mcp
