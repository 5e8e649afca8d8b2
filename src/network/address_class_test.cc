#include "network/address_class.h"

#include <gtest/gtest.h>

#include <string>

namespace belljar::network {
namespace {

bool is_public_text(const std::string& text) {
  return is_public(boost::asio::ip::make_address(text));
}

TEST(AddressClass, PublicAddressesArePublic) {
  for (const char* text :
       {"1.1.1.1", "8.8.8.8", "93.184.216.34", "168.63.129.15", "168.63.129.17", "192.0.1.0",
        "192.31.196.1", "192.88.98.255", "2606:4700::1111", "2a00:1450:4001:801::200e",
        "2620:4f:8000::1", "2400::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "3fff:1000::", "::ffff:8.8.8.8"}) {
    EXPECT_TRUE(is_public_text(text)) << text;
  }
}

TEST(AddressClass, SpecialIPv4AddressesAreNot) {
  for (const char* text :
       {"0.0.0.0",        "0.1.2.3",         "10.0.2.3",      "100.64.0.0",  "100.127.255.255",
        "127.0.0.1",      "127.255.255.254", "169.254.0.1",   "172.16.0.1",  "172.31.255.255",
        "192.0.0.8",      "192.0.2.1",       "192.88.99.1",   "192.168.1.1", "198.18.0.1",
        "198.19.255.255", "198.51.100.7",    "203.0.113.255", "224.0.0.1",   "239.255.255.250",
        "240.0.0.1",      "255.255.255.255"}) {
    EXPECT_FALSE(is_public_text(text)) << text;
    EXPECT_FALSE(is_public_text(std::string{"::ffff:"} + text)) << text << " in IPv6";
    EXPECT_FALSE(is_public_text(std::string{"::"} + text)) << text << " as IPv4-compatible";
  }
}

TEST(AddressClass, BlocksEndWhereTheyEnd) {
  for (const char* text : {"1.0.0.0",
                           "9.255.255.255",
                           "11.0.0.0",
                           "100.63.255.255",
                           "100.128.0.0",
                           "126.255.255.255",
                           "128.0.0.0",
                           "169.253.255.255",
                           "169.255.0.0",
                           "172.15.255.255",
                           "172.32.0.0",
                           "192.0.3.0",
                           "192.167.255.255",
                           "192.169.0.0",
                           "198.17.255.255",
                           "198.20.0.0",
                           "198.51.99.255",
                           "198.51.101.0",
                           "203.0.112.255",
                           "203.0.114.0",
                           "223.255.255.255",
                           "2001:200::",
                           "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
                           "2001:db9::",
                           "2003::",
                           "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                           "2000::"}) {
    EXPECT_TRUE(is_public_text(text)) << text;
  }
}

TEST(AddressClass, SpecialIPv6AddressesAreNot) {
  for (const char* text : {"::",
                           "::1",
                           "64:ff9b::8.8.8.8",
                           "64:ff9b:1::1",
                           "100::1",
                           "1fff:ffff::",
                           "2001::1",
                           "2001:10::1",
                           "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
                           "2001:db8::1",
                           "2002:808:808::1",
                           "2002:7f00:1::",
                           "3fff::1",
                           "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
                           "4000::1",
                           "5f00::1",
                           "fc00::1",
                           "fdff::1",
                           "fe80::1",
                           "febf::1",
                           "fec0::1",
                           "ff02::1",
                           "ff0e::1",
                           "::8.8.8.8",
                           "::ffff:0:8.8.8.8"}) {
    EXPECT_FALSE(is_public_text(text)) << text;
  }
}

TEST(AddressClass, MetadataServicesAreNotPublic) {
  for (const char* text :
       {"169.254.169.254", "169.254.170.2", "169.254.0.23", "100.100.100.200", "100.96.0.96",
        "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254", "fe80::a9fe:a9fe",
        "::ffff:169.254.169.254", "::ffff:168.63.129.16", "64:ff9b::169.254.169.254",
        "2002:a9fe:a9fe::1"}) {
    EXPECT_FALSE(is_public_text(text)) << text;
  }
}

TEST(AddressClass, OnlyMappedAddressesAreUnmapped) {
  using boost::asio::ip::make_address;
  EXPECT_EQ(unmapped(make_address("::ffff:1.2.3.4")), make_address("1.2.3.4"));
  EXPECT_EQ(unmapped(make_address("1.2.3.4")), make_address("1.2.3.4"));
  EXPECT_EQ(unmapped(make_address("::1.2.3.4")), make_address("::1.2.3.4"));
  EXPECT_EQ(unmapped(make_address("2400::1")), make_address("2400::1"));
}

}  // namespace
}  // namespace belljar::network
