#pragma once

#include <cstdint>

namespace belljar::launcher {

constexpr uint32_t kCarried = 1;   // the mark of packets that came through the gate
constexpr uint16_t kGatePort = 1;  // where the gate's connections are accepted

// Where things are in a packet.
constexpr uint32_t kDestination = 16;   // in an IPv4 header
constexpr uint32_t kDestination6 = 24;  // in an IPv6 header
constexpr uint32_t kTcpFlags = 13;      // in a TCP header
constexpr uint8_t kSyn = 0x02;
constexpr uint8_t kAck = 0x10;

// In the network namespace of the caller, who rules over it: first packets and datagrams to
// addresses that are not the sandbox's own are dropped, but for first packets that carry the mark,
// which go to the gate's port. 0 or an errno. The rules decide who gets a packet, not whether it
// may leave: no way out of the namespace exists.
int add_gate_rules();

}  // namespace belljar::launcher
