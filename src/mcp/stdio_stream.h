#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/task.h"

namespace belljar::mcp {

// One of the descriptors the process was started with, used from the loop without doing harm to
// those who share it: being non-blocking is a property of the open file, which our parent has too.
// So
// - a pipe or terminal is opened a second time;
// - where that is impossible (sockets) the flag is set, and put back by the destructor;
// - what the loop cannot wait for (regular files, /dev/null) is read and written on the blocking
// pool. The descriptor passed in stays open and is not owned.
class StdioStream {
 public:
  enum class Direction { input, output };

  // Throws an Error if `fd` is not open.
  StdioStream(const asio::any_io_executor& executor, int fd, Direction direction);
  ~StdioStream();
  StdioStream(const StdioStream&) = delete;
  StdioStream& operator=(const StdioStream&) = delete;

  // Some bytes, valid until the next call; "" at the end. Throws if reading fails or is cancelled.
  Task<std::string_view> read();

  // Returns when all of `data` is written. Throws if that fails or is cancelled. SIGPIPE must be
  // ignored.
  Task<> write(std::string data);

 private:
  std::string buffer_;
  Fd blocking_;  // set if the loop cannot wait for it; otherwise `polled_` is set
  std::optional<asio::posix::stream_descriptor> polled_;
  std::optional<int> flags_to_restore_;
};

}  // namespace belljar::mcp
