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
  std::vector<int> fds{seal.data};
  fds.insert(fds.end(), seal.files.begin(), seal.files.end());
  if (send_request(launcher.socket.get(), request, {}, fds) != Sent::yes)
    fail_errno(errno, "talk to the launcher");
}

void fail_to_share(int directory) {
  const auto path = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", directory));
  fail(Code::unavailable,
       "the files directory {} cannot be mounted into a sandbox: its file system has no id-mapped "
       "mounts. Choose a directory on ext4, XFS or Btrfs (or, from Linux 6.3, tmpfs)",
       path.string());
}

Seal wait_for_seal(const LauncherProcess& launcher, const SealRequest& request) {
  Reply reply{};
  std::vector<Fd> fds(1 + request.files.size());
  if (receive_reply(launcher.socket.get(), reply, fds) != Received::reply)
    fail(Code::unavailable, "the launcher has ended; look at its messages");
  if (reply.type != ReplyType::done && std::string_view{reply.step} == launcher::kMapOwnerStep)
    fail_to_share(request.files.at(reply.sandbox));
  if (reply.type != ReplyType::done) {
    const std::string why = std::generic_category().message(reply.error);
    fail(Code::unavailable, "{}", with_fix(fmt::format("{}: {}", reply.step, why), reply.facts));
  }
  Fd user_namespace = std::move(fds.front());
  fds.erase(fds.begin());
  return {std::move(user_namespace), reply.own_id, std::move(fds)};
}

}  // namespace belljar::linux_driver
