#pragma once

#include <array>
#include <cstdint>

#include "base/fd.h"

namespace belljar {

// The way out of a sandbox's network, held from outside. Inside, every address there is belongs to
// the loopback interface, so whatever programs send goes to one of these two sockets or nowhere:
// nothing leaves unless the holder carries it.
struct Gate {
  // Receives each first packet (SYN) of a TCP connection and each UDP datagram to an address that
  // is not the sandbox's own, without link-level header. What is sent through it arrives in the
  // sandbox: a SYN is then answered by `connections`, anything else goes to the programs.
  Fd packets;
  // Accepts connections to every address and port; the local address of each is the one that the
  // program asked for.
  Fd connections;
};

// The index of the loopback interface: it is the first one of every network namespace.
constexpr int kLoopbackIndex = 1;

// The addresses that mean something in such a network, whose first 24 bits are those of QEMU's user
// network, which many programs and people know.
constexpr std::array<uint8_t, 4> kGateHost{10, 0, 2, 2};      // the host, where a policy allows it
constexpr std::array<uint8_t, 4> kGateResolver{10, 0, 2, 3};  // the name server
constexpr std::array<uint8_t, 4> kGateSelf{10, 0, 2, 15};     // the sandbox
constexpr std::array<uint8_t, 16> kGateSelf6{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x15};

}  // namespace belljar
