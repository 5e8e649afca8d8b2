#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/fd.h"
#include "base/task.h"

namespace belljar::network {

// The next connection to a listening socket, as one that does not block. Waits until there is one
// and, if this process or the host is out of something, until there is room for it.
Task<Fd> accept_next(asio::posix::stream_descriptor& listener);

}  // namespace belljar::network
