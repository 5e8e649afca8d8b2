#pragma once

#include <cstddef>
#include <span>

#include "base/fd.h"

// Packets with descriptors, for both sides. Neither function blocks unless the socket does, and
// neither throws.
namespace belljar::agent {

// 0 or an errno.
int send_packet(int socket, const void* bytes, size_t size, std::span<const int> fds);

struct Packet {
  int error = 0;    // errno
  size_t size = 0;  // 0 without an error: the other side has ended
  size_t fds = 0;
  bool whole = false;  // nothing of it was cut off
};

// Receives one of at most `size` bytes. Descriptors are close-on-exec and go to `fds`; those for
// which there is no place are closed, and the packet is not whole.
Packet receive_packet(int socket, void* bytes, size_t size, std::span<Fd> fds);

}  // namespace belljar::agent
