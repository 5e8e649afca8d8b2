#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/task.h"

namespace belljar::network {

struct Endpoint {
  asio::ip::address address;
  uint16_t port = 0;

  bool operator==(const Endpoint&) const = default;
  bool operator<(const Endpoint& other) const {
    return std::tie(address, port) < std::tie(other.address, other.port);
  }
};

// What comes through Gate::packets: the first packet of a TCP connection, or a UDP datagram.
struct Packet {
  enum class Kind { connection, datagram };
  Kind kind = Kind::connection;
  Endpoint from;
  Endpoint to;
  std::string_view payload;  // of a datagram: a part of what was parsed
};

// Nothing for what is neither, is cut off or is a fragment. `bytes` begin with the IP header.
std::optional<Packet> parse_packet(std::string_view bytes);

// The same first packet with the checksum that the kernel has left to a network card.
std::string with_checksum(std::string_view first_packet);

// The answer to a first packet that nobody accepts: a reset.
std::string make_refusal(std::string_view first_packet);

// Addresses of one family; the payload must fit into one packet.
std::string make_datagram(const Endpoint& from, const Endpoint& to, std::string_view payload);

}  // namespace belljar::network
