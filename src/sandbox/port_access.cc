#include "sandbox/port_access.h"

#include "base/connect.h"
#include "base/error.h"

namespace belljar {

Task<Fd> connect_inside(const MakeSocket& make_socket, uint16_t port) {
  // A server may listen on either; most listen on both.
  const asio::ip::address loopbacks[] = {asio::ip::address_v4::loopback(),
                                         asio::ip::address_v6::loopback()};
  for (const asio::ip::address& loopback : loopbacks) {
    Fd socket;
    try {
      socket = co_await make_socket(loopback.is_v6());
    } catch (const Error&) {
      if (loopback.is_v4()) throw;
      break;  // a host without IPv6
    }
    const asio::ip::tcp::endpoint server{loopback, port};
    const int error = co_await connect_socket(socket.get(), server);
    if (error == 0) co_return socket;
  }
  fail(Code::unavailable, "nothing accepts connections on port {} of the sandbox", port);
}

}  // namespace belljar
