#pragma once

#include <span>
#include <string_view>

#include "base/task.h"

namespace belljar::net {

// A connection, whatever lies beneath it: TCP, TLS, TLS through a proxy's TLS. One reader and one
// writer at a time. Cancelling an operation leaves the stream fit only for being destroyed, which
// closes it. Faults throw boost::system::system_error; the caller knows what the connection was for
// and says so.
class Stream {
 public:
  virtual ~Stream() = default;

  // At least one byte, or 0 when the peer has properly ended its side.
  virtual Task<size_t> read_some(std::span<char> buffer) = 0;

  // All of it.
  virtual Task<> write(std::string_view bytes) = 0;

  // Ends this side properly, so that the peer knows that nothing is missing. It may take as long as
  // the peer likes; the caller sets the limit. A read may be under way.
  virtual Task<> end() = 0;
};

}  // namespace belljar::net
