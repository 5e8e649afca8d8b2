#include "drivers/linux/seal.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "drivers/linux/probe.h"

namespace belljar::linux_driver {

using launcher::Reply;
using launcher::ReplyType;
using launcher::Request;

void ask_to_seal(const LauncherProcess& launcher, const SealRequest& seal) {
  Request request{};
  request.type = launcher::RequestType::seal;
  request.own_id = seal.own_id;
  const int fds[] = {seal.data, seal.files};
  const size_t size = sizeof(int) * (seal.files < 0 ? 1 : 2);
  iovec part{&request, sizeof request};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(size);
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(size);
  std::memcpy(CMSG_DATA(rights), fds, size);
  sys(::sendmsg(launcher.socket.get(), &message, MSG_NOSIGNAL), "talk to the launcher");
}

namespace {

ssize_t receive(int socket, msghdr& message) {
  for (;;) {
    const ssize_t size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (size >= 0 || errno != EINTR) return size;
  }
}

}  // namespace

void fail_to_share(int directory) {
  const auto path = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", directory));
  fail(Code::unavailable,
       "the files directory {} cannot be mounted into a sandbox: its file system has no id-mapped "
       "mounts. Choose a directory on ext4, XFS or Btrfs (or, from Linux 6.3, tmpfs)",
       path.string());
}

Seal wait_for_seal(const LauncherProcess& launcher, int files) {
  Reply reply{};
  iovec part{&reply, sizeof reply};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 2)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = receive(launcher.socket.get(), message);
  Seal seal;
  Fd* const places[] = {&seal.user_namespace, &seal.files};
  const cmsghdr* rights = size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
    const size_t count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count && i < std::size(places); ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(rights) + i * sizeof fd, sizeof fd);
      places[i]->reset(fd);
    }
  }
  if (size != sizeof reply) fail(Code::unavailable, "the launcher has ended; look at its messages");
  if (reply.type != ReplyType::done && std::string_view{reply.step} == launcher::kMapOwnerStep)
    fail_to_share(files);
  if (reply.type != ReplyType::done) {
    const std::string why = std::generic_category().message(reply.error);
    fail(Code::unavailable, "{}", with_fix(fmt::format("{}: {}", reply.step, why)));
  }
  seal.own_id = reply.own_id;
  return seal;
}

}  // namespace belljar::linux_driver
