#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belljar::network {

// What a program wants of its proxy.
struct ProxyRequest {
  std::string host;                                 // a name in canonical form, or an address
  std::optional<boost::asio::ip::address> address;  // if it is one
  uint16_t port = 0;
  // What the host is to get first, in place of the request's head. "": the program asked for a
  // connection (CONNECT), by which it will speak for itself.
  std::string head;

  bool is_tunnel() const { return head.empty(); }
};

// Reads the head of a request, up to and with its empty line: "CONNECT host:port", or any other
// method with a whole http:// address. Programs are hostile: what two readers could take
// differently is Error{invalid}, in words for whoever wrote the program.
ProxyRequest read_proxy_request(std::string_view head);

}  // namespace belljar::network
