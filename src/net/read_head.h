#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <string>

#include "base/task.h"

namespace belljar::net {

// The head of an HTTP message, up to and with its empty line, and not a byte of what follows: that
// is for whoever has the socket next. "" if the peer ends before. More than `limit` bytes are
// Error{invalid}. Takes as long as the peer likes.
Task<std::string> read_head(asio::posix::stream_descriptor& socket, size_t limit);

}  // namespace belljar::net
