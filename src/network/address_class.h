#pragma once

#include <boost/asio/ip/address.hpp>

namespace belljar::network {

// An IPv4 address that is written as an IPv6 one (::ffff:192.0.2.1) as what it is; any other
// address as it came. The kernel dials both alike, so whoever compares addresses compares these.
boost::asio::ip::address unmapped(const boost::asio::ip::address& address);

// True for public unicast addresses: those that belong to somebody on the Internet. Everything that
// leads to this host, its network, a cloud's metadata service, a group of hosts or, by way of a
// translator or tunnel, to an IPv4 address which is not to be seen here, is not public. Neither is
// what has no meaning yet.
//
// Addresses that the host itself happens to have may be public: this looks at the address only.
bool is_public(const boost::asio::ip::address& address);

}  // namespace belljar::network
