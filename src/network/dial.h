#pragma once

#include "base/fd.h"
#include "network/packet.h"

namespace belljar::network {

// A TCP connection from this host, as a socket that does not block. An Error if it is refused or
// cannot be; takes as long as the network lets it.
Task<Fd> dial(Endpoint to);

// True if the address is one of this host's, or belongs to a network that this host is part of: its
// neighbours trust it, and a firewall that guards them is not on the way. Also true if the kernel
// does not say.
bool is_near(const asio::ip::address& address);

}  // namespace belljar::network
