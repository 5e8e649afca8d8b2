#include "drivers/docker/agent/packet.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "drivers/docker/agent/protocol.h"

namespace belljar::agent {

namespace {

// One more than any packet has, so that too many are noticed; aligned as the kernel wants it.
struct Control {
  alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int) * (kMaxFds + 1))] = {};
};

// The number of descriptors in it. Those that `fds` has no place for are closed.
size_t take_fds(msghdr& message, std::span<Fd> fds) {
  size_t count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t here = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < here; ++i, ++count) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
      Fd fd{number};
      if (count < fds.size()) fds[count] = std::move(fd);
    }
  }
  return count;
}

}  // namespace

int send_packet(int socket, const void* bytes, size_t size, std::span<const int> fds) {
  if (fds.size() > kMaxFds) return EINVAL;
  iovec part{const_cast<void*>(bytes), size};  // sendmsg only reads it
  Control control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
  }
  for (;;) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return 0;
    if (errno != EINTR) return errno;
  }
}

Packet receive_packet(int socket, void* bytes, size_t size, std::span<Fd> fds) {
  iovec part{bytes, size};
  Control control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t received = 0;
  do received = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  Packet packet;
  if (received < 0) {
    packet.error = errno;
    return packet;
  }
  packet.size = static_cast<size_t>(received);
  packet.fds = take_fds(message, fds);
  packet.whole = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 && packet.fds <= fds.size();
  return packet;
}

}  // namespace belljar::agent
