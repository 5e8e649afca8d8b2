#pragma once

#include "base/fd.h"

namespace belljar::agent {

// The connection to belljar at this path. Blocks until it is there. Empty if nobody listens.
Fd connect_to(const char* path);

// A TCP socket that does not block; if it listens, bound to the loopback address at a free port.
// 0 or an errno.
int make_tcp_socket(bool ipv6, bool listening, Fd& result);

}  // namespace belljar::agent
