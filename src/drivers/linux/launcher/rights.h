#pragma once

#include <sys/socket.h>

#include <cstring>
#include <vector>

#include "base/fd.h"
#include "drivers/linux/launcher/protocol.h"

namespace belljar::launcher {

// More than any message has.
constexpr size_t kMostRights = kMaxFds + 1;

// Room for the descriptors that travel with a message: SCM_RIGHTS.
class Rights {
 public:
  // `fds` are sent with the message. At most kMostRights; the message must not outlive this object.
  void attach(msghdr& message, const std::vector<int>& fds) {
    if (fds.empty()) return;
    const size_t size = sizeof(int) * fds.size();
    message.msg_control = bytes_;
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(part), fds.data(), size);
  }

  // Makes room for those of a message that is about to be received.
  void expect(msghdr& message) {
    message.msg_control = bytes_;
    message.msg_controllen = sizeof bytes_;
  }

  // Those that came with it.
  static std::vector<Fd> take(msghdr& message) {
    std::vector<Fd> fds;
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
         part = CMSG_NXTHDR(&message, part)) {
      if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
      const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
        fds.emplace_back(fd);
      }
    }
    return fds;
  }

 private:
  alignas(cmsghdr) char bytes_[CMSG_SPACE(sizeof(int) * kMostRights)] = {};
};

}  // namespace belljar::launcher
