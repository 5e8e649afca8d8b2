#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "base/task.h"

namespace belljar {

// Connects a socket that does not block, and waits until that has worked or has not: 0 or an errno.
// Takes as long as the network lets it. The socket stays the caller's, also when this is cancelled.
Task<int> connect_socket(int socket, asio::ip::tcp::endpoint to);

}  // namespace belljar
