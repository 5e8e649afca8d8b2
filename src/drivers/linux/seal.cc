#include "drivers/linux/seal.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "drivers/linux/launcher_socket.h"
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
  const size_t count = seal.files < 0 ? 1 : 2;
  if (send_request(launcher.socket.get(), request, {}, std::span{fds}.first(count)) != Sent::yes)
    fail_errno(errno, "talk to the launcher");
}

void fail_to_share(int directory) {
  const auto path = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", directory));
  fail(Code::unavailable,
       "the files directory {} cannot be mounted into a sandbox: its file system has no id-mapped "
       "mounts. Choose a directory on ext4, XFS or Btrfs (or, from Linux 6.3, tmpfs)",
       path.string());
}

Seal wait_for_seal(const LauncherProcess& launcher, int files) {
  Reply reply{};
  Fd fds[2];
  if (receive_reply(launcher.socket.get(), reply, fds) != Received::reply)
    fail(Code::unavailable, "the launcher has ended; look at its messages");
  if (reply.type != ReplyType::done && std::string_view{reply.step} == launcher::kMapOwnerStep)
    fail_to_share(files);
  if (reply.type != ReplyType::done) {
    const std::string why = std::generic_category().message(reply.error);
    fail(Code::unavailable, "{}", with_fix(fmt::format("{}: {}", reply.step, why), reply.facts));
  }
  return {std::move(fds[0]), reply.own_id, std::move(fds[1])};
}

}  // namespace belljar::linux_driver
