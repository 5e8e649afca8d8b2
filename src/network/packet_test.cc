#include "network/packet.h"

#include <gtest/gtest.h>

#include <random>

namespace belljar::network {
namespace {

Endpoint endpoint(const char* address, uint16_t port) {
  return {asio::ip::make_address(address), port};
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string{hex.substr(i, 2)}, nullptr, 16));
  return bytes;
}

// As the kernel sends them over a loopback interface, with a checksum that is not finished.
const std::string kSyn4 = from_hex(
    "4500003c15fd40004006e2d50a00020f5db8d822be6201bb854e896200000000a002ffd7421800000204ffd7040208"
    "0a"
    "5d4600000000000000000000");
const std::string kSyn6 = from_hex(
    "6000000000140640fd0000000000000000000000000000152606470000000000000000000000"
    "1111"
    "c35001bb0000000100000000500200ff00000000");

// RFC 1071: the sum over everything, checksum included, is all ones.
bool has_valid_checksum(std::string_view packet, size_t header, uint8_t protocol) {
  const std::string_view addresses = header == 20 ? packet.substr(12, 8) : packet.substr(8, 32);
  uint32_t sum = protocol + static_cast<uint32_t>(packet.size() - header);
  const auto add = [&sum](std::string_view bytes) {
    for (size_t i = 0; i < bytes.size(); ++i)
      sum += static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (i % 2 == 0 ? 8 : 0);
  };
  add(addresses);
  add(packet.substr(header));
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return sum == 0xffff;
}

TEST(Packet, TheFirstOfAConnectionIsTakenApart) {
  const auto packet = parse_packet(kSyn4);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->kind, Packet::Kind::connection);
  EXPECT_EQ(packet->from, endpoint("10.0.2.15", 48738));
  EXPECT_EQ(packet->to, endpoint("93.184.216.34", 443));
  const auto other = parse_packet(kSyn6);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->from, endpoint("fd00::15", 50000));
  EXPECT_EQ(other->to, endpoint("2606:4700::1111", 443));
}

TEST(Packet, ADatagramIsWhatItWasMadeOf) {
  for (const auto& [from, to] :
       {std::pair{"93.184.216.34", "10.0.2.15"}, {"2606:4700::1", "fd00::15"}}) {
    for (const size_t size : {0, 1, 2, 511, 65000}) {
      const std::string payload(size, 'x');
      const std::string bytes = make_datagram(endpoint(from, 53), endpoint(to, 1234), payload);
      const auto packet = parse_packet(bytes);
      ASSERT_TRUE(packet) << from << " " << size;
      EXPECT_EQ(packet->kind, Packet::Kind::datagram);
      EXPECT_EQ(packet->from, endpoint(from, 53));
      EXPECT_EQ(packet->to, endpoint(to, 1234));
      EXPECT_EQ(packet->payload, payload);
      EXPECT_TRUE(has_valid_checksum(bytes, from[1] == '3' ? 20 : 40, 17));
    }
  }
}

TEST(Packet, ChecksumsAreFinished) {
  EXPECT_FALSE(has_valid_checksum(kSyn4, 20, 6));
  EXPECT_TRUE(has_valid_checksum(with_checksum(kSyn4), 20, 6));
  EXPECT_TRUE(has_valid_checksum(with_checksum(kSyn6), 40, 6));
  const auto packet = parse_packet(with_checksum(kSyn4));
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->to, endpoint("93.184.216.34", 443));
}

TEST(Packet, ARefusalIsAResetOfExactlyThatAttempt) {
  const std::string reset = make_refusal(kSyn4);
  ASSERT_EQ(reset.size(), 40u);
  EXPECT_TRUE(has_valid_checksum(reset, 20, 6));
  EXPECT_EQ(reset.substr(12, 4), kSyn4.substr(16, 4));
  EXPECT_EQ(reset.substr(16, 4), kSyn4.substr(12, 4));
  EXPECT_EQ(reset.substr(20, 2), kSyn4.substr(22, 2));
  EXPECT_EQ(reset.substr(22, 2), kSyn4.substr(20, 2));
  EXPECT_EQ(reset.substr(28, 4), from_hex("854e8963"));  // acknowledges the one that was sent
  EXPECT_EQ(reset[33], 0x14);                            // RST, ACK
  EXPECT_EQ(make_refusal(kSyn6).size(), 60u);
}

TEST(Packet, EverythingElseIsNone) {
  std::string later = kSyn4;
  later[33] = 0x10;  // an acknowledgement
  EXPECT_FALSE(parse_packet(later));
  std::string fragment = kSyn4;
  fragment[7] = 1;
  EXPECT_FALSE(parse_packet(fragment));
  std::string ping = kSyn4;
  ping[9] = 1;
  EXPECT_FALSE(parse_packet(ping));
  std::string longer = make_datagram(endpoint("1.1.1.1", 1), endpoint("2.2.2.2", 2), "abc");
  longer[25] = 100;  // the length of the datagram
  EXPECT_FALSE(parse_packet(longer));
  EXPECT_FALSE(parse_packet(""));
  for (size_t size = 0; size < kSyn4.size(); ++size)
    EXPECT_FALSE(parse_packet(kSyn4.substr(0, size)));
}

TEST(Packet, NoBytesAreReadThatAreNotThere) {
  std::mt19937 random{1};  // NOLINT: the same every time
  for (int round = 0; round < 20000; ++round) {
    std::string bytes =
        round % 2 == 0 ? kSyn4 : make_datagram(endpoint("fd00::1", 1), endpoint("fd00::2", 2), "x");
    for (int change = 0; change < 4; ++change)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    bytes.shrink_to_fit();
    const auto packet = parse_packet(bytes);
    EXPECT_LE(packet ? packet->payload.size() : 0, bytes.size());
  }
}

}  // namespace
}  // namespace belljar::network
