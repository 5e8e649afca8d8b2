#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <vector>

#include "base/task.h"

namespace belljar::net {

// The addresses of a host, in the order in which they should be tried. The look-up blocks, so it
// runs on the pool; a cancelled caller goes on at once and the look-up ends on its own. Throws
// Error{unavailable} that names the host.
Task<std::vector<asio::ip::tcp::endpoint>> resolve(std::string host, uint16_t port);

}  // namespace belljar::net
