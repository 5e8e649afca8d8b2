#include "network/packet.h"

#include <netinet/in.h>

#include <algorithm>
#include <array>

namespace belljar::network {

namespace {

constexpr size_t kIpv4Header = 20;
constexpr size_t kIpv6Header = 40;
constexpr size_t kTcpHeader = 20;
constexpr size_t kUdpHeader = 8;
constexpr uint8_t kSyn = 0x02;
constexpr uint8_t kReset = 0x04;
constexpr uint8_t kAck = 0x10;
constexpr uint8_t kHops = 64;

uint8_t byte_at(std::string_view bytes, size_t at) {
  return static_cast<uint8_t>(bytes[at]);
}

uint16_t number_at(std::string_view bytes, size_t at) {
  return static_cast<uint16_t>(byte_at(bytes, at) << 8 | byte_at(bytes, at + 1));
}

void put(std::string& bytes, size_t at, size_t value) {
  bytes[at] = static_cast<char>(value >> 8 & 0xff);
  bytes[at + 1] = static_cast<char>(value & 0xff);
}

template <class Address>
Address address_at(std::string_view bytes, size_t at) {
  typename Address::bytes_type raw;
  std::copy_n(bytes.data() + at, raw.size(), reinterpret_cast<char*>(raw.data()));
  return Address{raw};
}

uint32_t sum_of(std::string_view bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) sum += number_at(bytes, i);
  if (bytes.size() % 2 != 0) sum += static_cast<uint32_t>(byte_at(bytes, bytes.size() - 1)) << 8;
  return sum;
}

uint16_t folded(uint32_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

// An IP header taken apart.
struct Envelope {
  size_t size = 0;  // of the header
  uint8_t protocol = 0;
  asio::ip::address from;
  asio::ip::address to;
  std::string_view addresses;  // both, as they are in the header
  std::string_view content;
};

std::optional<Envelope> open_ipv4(std::string_view bytes) {
  if (bytes.size() < kIpv4Header) return std::nullopt;
  Envelope envelope;
  envelope.size = static_cast<size_t>(byte_at(bytes, 0) & 0x0f) * 4;
  const size_t total = number_at(bytes, 2);
  const bool is_fragment = (number_at(bytes, 6) & 0x3fff) != 0;
  if (envelope.size < kIpv4Header || total < envelope.size || total > bytes.size() || is_fragment)
    return std::nullopt;
  envelope.protocol = byte_at(bytes, 9);
  envelope.from = address_at<asio::ip::address_v4>(bytes, 12);
  envelope.to = address_at<asio::ip::address_v4>(bytes, 16);
  envelope.addresses = bytes.substr(12, 8);
  envelope.content = bytes.substr(envelope.size, total - envelope.size);
  return envelope;
}

// Without extension headers, which programs have no reason to send.
std::optional<Envelope> open_ipv6(std::string_view bytes) {
  if (bytes.size() < kIpv6Header) return std::nullopt;
  const size_t length = number_at(bytes, 4);
  if (length > bytes.size() - kIpv6Header) return std::nullopt;
  Envelope envelope;
  envelope.size = kIpv6Header;
  envelope.protocol = byte_at(bytes, 6);
  envelope.from = address_at<asio::ip::address_v6>(bytes, 8);
  envelope.to = address_at<asio::ip::address_v6>(bytes, 24);
  envelope.addresses = bytes.substr(8, 32);
  envelope.content = bytes.substr(kIpv6Header, length);
  return envelope;
}

std::optional<Envelope> open_envelope(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  const int version = byte_at(bytes, 0) >> 4;
  if (version == 4) return open_ipv4(bytes);
  if (version == 6) return open_ipv6(bytes);
  return std::nullopt;
}

// A packet around `content`, whose checksum at `checksum` is filled in.
std::string wrap(const asio::ip::address& from, const asio::ip::address& to, uint8_t protocol,
                 std::string content, size_t checksum) {
  std::string packet;
  std::string addresses;
  const auto add = [&addresses](const auto& bytes) {
    addresses.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  if (from.is_v4()) {
    add(from.to_v4().to_bytes());
    add(to.to_v4().to_bytes());
    packet.assign(12, '\0');
    packet[0] = 0x45;
    put(packet, 2, kIpv4Header + content.size());
    packet[8] = kHops;
    packet[9] = static_cast<char>(protocol);
    put(packet, 10, folded(sum_of(packet) + sum_of(addresses)));
  } else {
    add(from.to_v6().to_bytes());
    add(to.to_v6().to_bytes());
    packet.assign(8, '\0');
    packet[0] = 0x60;
    put(packet, 4, content.size());
    packet[6] = static_cast<char>(protocol);
    packet[7] = kHops;
  }
  packet += addresses;
  put(content, checksum, 0);
  const uint16_t sum = folded(sum_of(addresses) + protocol + static_cast<uint32_t>(content.size()) +
                              sum_of(content));
  put(content, checksum, sum == 0 && protocol == IPPROTO_UDP ? 0xffff : sum);
  return packet + content;
}

constexpr size_t kTcpChecksum = 16;
constexpr size_t kUdpChecksum = 6;

}  // namespace

std::optional<Packet> parse_packet(std::string_view bytes) {
  const auto envelope = open_envelope(bytes);
  if (!envelope) return std::nullopt;
  const std::string_view content = envelope->content;
  Packet packet;
  if (envelope->protocol == IPPROTO_TCP && content.size() >= kTcpHeader) {
    if ((byte_at(content, 13) & (kSyn | kAck)) != kSyn) return std::nullopt;
    packet.kind = Packet::Kind::connection;
  } else if (envelope->protocol == IPPROTO_UDP && content.size() >= kUdpHeader) {
    const size_t length = number_at(content, 4);
    if (length < kUdpHeader || length > content.size()) return std::nullopt;
    packet.kind = Packet::Kind::datagram;
    packet.payload = content.substr(kUdpHeader, length - kUdpHeader);
  } else {
    return std::nullopt;
  }
  packet.from = {envelope->from, number_at(content, 0)};
  packet.to = {envelope->to, number_at(content, 2)};
  return packet;
}

std::string with_checksum(std::string_view first_packet) {
  const Envelope envelope = open_envelope(first_packet).value();
  return wrap(envelope.from, envelope.to, IPPROTO_TCP, std::string{envelope.content}, kTcpChecksum);
}

std::string make_refusal(std::string_view first_packet) {
  const Envelope envelope = open_envelope(first_packet).value();
  const std::string_view tcp = envelope.content;
  std::string answer(kTcpHeader, '\0');
  put(answer, 0, number_at(tcp, 2));  // the ports change places
  put(answer, 2, number_at(tcp, 0));
  const uint32_t next = (static_cast<uint32_t>(number_at(tcp, 4)) << 16 | number_at(tcp, 6)) + 1;
  put(answer, 8, next >> 16);
  put(answer, 10, next & 0xffff);
  answer[12] = kTcpHeader / 4 << 4;
  answer[13] = kReset | kAck;
  return wrap(envelope.to, envelope.from, IPPROTO_TCP, std::move(answer), kTcpChecksum);
}

std::string make_datagram(const Endpoint& from, const Endpoint& to, std::string_view payload) {
  std::string datagram(kUdpHeader, '\0');
  put(datagram, 0, from.port);
  put(datagram, 2, to.port);
  put(datagram, 4, kUdpHeader + payload.size());
  datagram += payload;
  return wrap(from.address, to.address, IPPROTO_UDP, std::move(datagram), kUdpChecksum);
}

}  // namespace belljar::network
