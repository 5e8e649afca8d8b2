#pragma once

#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <string>

#include "base/error.h"
#include "network/datagrams.h"
#include "network/dns_testing.h"
#include "sandbox/gate.h"

// A gate without a sandbox behind it. For unit tests only.
namespace belljar::network {

inline Endpoint endpoint(const char* address, unsigned port) {
  return {asio::ip::make_address(address), static_cast<uint16_t>(port)};
}

// The first packet of a connection by IPv4, without its checksums: the kernel leaves them to a
// network card, too.
inline std::string first_packet(const Endpoint& from, const Endpoint& to) {
  const auto address = [](const Endpoint& end) { return dns::u32(end.address.to_v4().to_uint()); };
  const std::string ip = "\x45" + std::string(1, '\0') + dns::u16(40) + dns::u32(0) +
                         dns::u16(64 << 8 | IPPROTO_TCP) + dns::u16(0);
  const std::string tcp = dns::u16(from.port) + dns::u16(to.port) + dns::u32(7) + dns::u32(0) +
                          dns::u16(0x5002) + dns::u16(0xffff) + dns::u32(0);
  return ip + address(from) + address(to) + tcp;
}

inline bool is_refusal(std::string_view packet) {
  constexpr size_t kFlags = 20 + 13;  // of TCP, behind an IPv4 header
  return packet.size() == 40 && packet[9] == IPPROTO_TCP && packet[kFlags] == 0x14;
}

// The packet socket is one of a pair that keeps messages apart and, unlike one of datagrams, does
// not mind the address of a network card that packets are sent to. Nobody can connect to the other
// socket as from a sandbox: that takes a network of its own (tests/network).
class FakeGate {
 public:
  explicit FakeGate(const asio::any_io_executor& executor) : inside_{executor} {
    int ends[2];
    sys(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
        "make a pair of sockets");
    inside_.assign(ends[0]);
    gate_.packets = Fd{ends[1]};
    const asio::ip::tcp::endpoint anywhere{asio::ip::address_v4::loopback(), 0};
    asio::ip::tcp::acceptor listener{executor, anywhere};
    listener.non_blocking(true);
    gate_.connections = Fd{listener.release()};
  }

  Gate take() { return std::move(gate_); }
  Injector injector() const { return Injector{gate_.packets.get()}; }

  // As a program does.
  void send(const std::string& packet) {
    sys(::send(inside_.native_handle(), packet.data(), packet.size(), 0), "send a packet");
  }

  // The next packet that was put into the sandbox.
  Task<std::string> next() {
    co_await inside_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    std::string packet(1u << 16, '\0');
    packet.resize(static_cast<size_t>(
        sys(::recv(inside_.native_handle(), packet.data(), packet.size(), 0), "receive a packet")));
    co_return packet;
  }

 private:
  asio::posix::stream_descriptor inside_;
  Gate gate_;
};

}  // namespace belljar::network
