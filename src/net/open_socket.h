#pragma once

#include <sys/socket.h>

#include "base/error.h"
#include "base/fd.h"

namespace belljar::net {

// Opens a socket of Asio's (TCP or UDP) so that no child inherits it: Asio itself does not care.
template <class Socket>
void open_socket(Socket& socket, const typename Socket::protocol_type& protocol) {
  Fd fd{sys(::socket(protocol.family(), protocol.type() | SOCK_CLOEXEC, protocol.protocol()),
            "make a socket")};
  socket.assign(protocol, fd.get());
  fd.release();
}

}  // namespace belljar::net
