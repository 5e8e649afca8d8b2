#include "network/address_class.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace belljar::network {

namespace {

using boost::asio::ip::address;
using boost::asio::ip::address_v4;
using boost::asio::ip::address_v6;

struct Block4 {
  std::array<uint8_t, 4> start;
  int bits;
};

// IANA's registry of special-purpose IPv4 addresses, and what is not unicast.
constexpr Block4 kRefused4[] = {
    {{0, 0, 0, 0}, 8},         // "this network": Linux takes 0.0.0.0 for itself
    {{10, 0, 0, 0}, 8},        // private
    {{100, 64, 0, 0}, 10},     // between a provider and its customers; metadata of Alibaba Cloud
    {{127, 0, 0, 0}, 8},       // loopback
    {{168, 63, 129, 16}, 32},  // the host agent of Azure, in the middle of a public range
    {{169, 254, 0, 0}, 16},    // link-local; metadata of most clouds
    {{172, 16, 0, 0}, 12},     // private
    {{192, 0, 0, 0}, 24},      // protocol assignments; metadata of Oracle Cloud
    {{192, 0, 2, 0}, 24},      // documentation
    {{192, 88, 99, 0}, 24},    // relays of 6to4
    {{192, 168, 0, 0}, 16},    // private
    {{198, 18, 0, 0}, 15},     // benchmarks
    {{198, 51, 100, 0}, 24},   // documentation
    {{203, 0, 113, 0}, 24},    // documentation
    {{224, 0, 0, 0}, 4},       // multicast
    {{240, 0, 0, 0}, 4},       // reserved, and the broadcast address
};

struct Block6 {
  uint64_t start;  // the upper half: no block is smaller than that
  int bits;
};

// The only block from which public unicast addresses are given out. What is outside needs no row of
// its own: loopback, IPv4-compatible (::/96), NAT64 (64:ff9b::/96, 64:ff9b:1::/48), unique local
// (fc00::/7; metadata of AWS and Google), link-local (fe80::/10), site-local (fec0::/10),
// multicast.
constexpr Block6 kUnicast6{0x2000'0000'0000'0000, 3};

constexpr Block6 kRefused6[] = {
    {0x2001'0000'0000'0000, 23},  // protocol assignments: Teredo, ORCHID, benchmarks
    {0x2001'0db8'0000'0000, 32},  // documentation
    {0x2002'0000'0000'0000, 16},  // 6to4: has an IPv4 address in it
    {0x3fff'0000'0000'0000, 20},  // documentation
};

constexpr uint32_t number(const std::array<uint8_t, 4>& bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

constexpr bool contains(const Block4& block, uint32_t address) {
  return (address ^ number(block.start)) >> (32 - block.bits) == 0;
}

constexpr bool contains(const Block6& block, uint64_t upper_half) {
  return (upper_half ^ block.start) >> (64 - block.bits) == 0;
}

bool is_public_v4(const address_v4& address) {
  const uint32_t value = address.to_uint();
  return std::none_of(std::begin(kRefused4), std::end(kRefused4),
                      [value](const Block4& block) { return contains(block, value); });
}

bool is_public_v6(const address_v6& address) {
  const auto bytes = address.to_bytes();
  uint64_t upper = 0;
  for (size_t i = 0; i < 8; ++i) upper = upper << 8 | bytes[i];
  return contains(kUnicast6, upper) &&
         std::none_of(std::begin(kRefused6), std::end(kRefused6),
                      [upper](const Block6& block) { return contains(block, upper); });
}

}  // namespace

address unmapped(const address& any) {
  if (!any.is_v6() || !any.to_v6().is_v4_mapped()) return any;
  return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, any.to_v6());
}

bool is_public(const address& any) {
  const address plain = unmapped(any);
  return plain.is_v4() ? is_public_v4(plain.to_v4()) : is_public_v6(plain.to_v6());
}

}  // namespace belljar::network
