#pragma once

#include <functional>

#include "base/fd.h"
#include "base/task.h"

namespace belljar {

// Makes a TCP socket of a sandbox's network that is not connected and does not block.
using MakeSocket = std::function<Task<Fd>(bool ipv6)>;

// A connection to whatever listens on that port of the loopback interface there, IPv4 or IPv6.
// Error{unavailable} if nothing does. `make_socket` must live until the end.
Task<Fd> connect_inside(const MakeSocket& make_socket, uint16_t port);

}  // namespace belljar
