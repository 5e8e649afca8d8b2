#include "drivers/linux/launcher_socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace belljar::linux_driver {

namespace {

// Large enough for every message; aligned as the kernel wants it.
struct Control {
  alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int) * launcher::kMaxFds)] = {};
};

void attach(msghdr& message, Control& control, std::span<const int> fds) {
  if (fds.empty()) return;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
}

void detach(msghdr& message, std::span<Fd> fds) {
  const cmsghdr* rights = CMSG_FIRSTHDR(&message);
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS) return;
  const size_t count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (size_t i = 0; i < count; ++i) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(rights) + i * sizeof number, sizeof number);
    Fd fd{number};
    if (i < fds.size()) fds[i] = std::move(fd);
  }
}

}  // namespace

Sent send_request(int socket, const launcher::Request& request, std::string_view payload,
                  std::span<const int> fds) noexcept {
  if (fds.size() > launcher::kMaxFds) {
    errno = EINVAL;
    return Sent::ended;
  }
  // sendmsg only reads what it is given, but its structure serves recvmsg as well.
  iovec parts[] = {{const_cast<launcher::Request*>(&request), sizeof request},
                   {const_cast<char*>(payload.data()), payload.size()}};
  Control control;
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = payload.empty() ? 1 : 2;
  attach(message, control, fds);
  for (;;) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return Sent::yes;
    if (errno == EINTR) continue;
    if (errno != ENOMEM && errno != ENOBUFS) return errno == EAGAIN ? Sent::full : Sent::ended;
    ::usleep(1000);  // there will be memory for a message soon
  }
}

Received receive_reply(int socket, launcher::Reply& reply, std::span<Fd> fds) noexcept {
  iovec part{&reply, sizeof reply};
  Control control;
  for (;;) {
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    const ssize_t size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (size >= 0) {
      detach(message, fds);
      return size == sizeof reply ? Received::reply : Received::ended;
    }
    if (errno == EINTR) continue;
    const bool later = errno == EAGAIN || errno == ENOMEM || errno == ENOBUFS;
    return later ? Received::nothing : Received::ended;
  }
}

}  // namespace belljar::linux_driver
