#include "drivers/linux/launcher_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"

namespace belljar::linux_driver {

using launcher::Reply;
using launcher::ReplyType;
using launcher::Request;

struct LauncherClient::Pending {
  explicit Pending(const asio::any_io_executor& executor) : answered{executor} {}
  Event answered;
  Answer answer;
};

LauncherClient::LauncherClient(const asio::any_io_executor& executor, LauncherProcess launcher)
    : socket_{executor, launcher.socket.release()}, pidfd_{executor, launcher.pidfd.release()} {
  socket_.non_blocking(true);
  read_when_ready();
}

LauncherClient::~LauncherClient() {
  *alive_ = false;
}

void LauncherClient::read_when_ready() {
  const auto alive = alive_;
  socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [this, alive](const boost::system::error_code& error) {
                       if (*alive && !error) read_replies();
                     });
}

void LauncherClient::read_replies() {
  for (;;) {
    Reply reply{};
    Fd fd;
    const ssize_t size = receive(reply, fd);
    if (size == sizeof reply) {
      dispatch(reply, std::move(fd));
      continue;
    }
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == EAGAIN || errno == ENOMEM || errno == ENOBUFS))
      return read_when_ready();
    return lost();
  }
}

ssize_t LauncherClient::receive(Reply& reply, Fd& fd) {
  iovec part{&reply, sizeof reply};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(socket_.native_handle(), &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* rights = size < 0 ? nullptr : CMSG_FIRSTHDR(&message);
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(rights), sizeof number);
    fd.reset(number);
  }
  return size;
}

void LauncherClient::dispatch(const Reply& reply, Fd fd) {
  if (reply.type == ReplyType::exited) {
    const auto at = exits_.find({reply.sandbox, reply.process});
    if (at == exits_.end()) return;
    const ExitHandler handler = std::move(at->second);
    exits_.erase(at);
    return handler(reply);
  }
  if (reply.type == ReplyType::died) {
    log::warning("sandbox {} was killed from outside", reply.sandbox);
    const auto at = sandboxes_.find(reply.sandbox);
    if (at != sandboxes_.end()) *at->second = true;
    return;
  }
  const auto at = pending_.find(reply.serial);
  if (at == pending_.end()) return;
  at->second->answer.reply = reply;
  at->second->answer.fd = std::move(fd);
  at->second->answered.set();
  pending_.erase(at);
}

void LauncherClient::lost() {
  lost_ = true;
  Reply reply{};
  reply.type = ReplyType::failed;
  reply.error = ECONNRESET;
  std::strncpy(reply.step, "reach the launcher", sizeof reply.step - 1);
  for (const auto& [serial, pending] : std::exchange(pending_, {})) {
    pending->answer.reply = reply;
    pending->answered.set();
  }
  for (const auto& [id, dead] : sandboxes_) *dead = true;
  reply.status = SIGKILL;  // with the launcher every sandbox died
  for (const auto& [key, handler] : std::exchange(exits_, {})) handler(reply);
}

bool LauncherClient::send(Request& request, const std::string& payload,
                          const std::vector<int>& fds) noexcept {
  iovec parts[] = {{&request, sizeof request}, {const_cast<char*>(payload.data()), payload.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * launcher::kMaxFds)] = {};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = payload.empty() ? 1 : 2;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(part), fds.data(), sizeof(int) * fds.size());
  }
  for (;;) {
    if (::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL) >= 0) return true;
    if (errno == ENOMEM || errno == ENOBUFS) {
      ::usleep(1000);  // there will be memory for a message soon
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) return false;
    // The launcher never waits for us, so a full socket empties in microseconds.
    pollfd wait{socket_.native_handle(), POLLOUT, 0};
    ::poll(&wait, 1, 1000);
  }
}

Task<LauncherClient::Answer> LauncherClient::ask(Request request, std::string payload,
                                                 std::vector<int> fds, std::string what) {
  auto pending = std::make_shared<Pending>(co_await asio::this_coro::executor);
  request.serial = next_serial_++;
  if (lost_ || !send(request, payload, fds)) {
    fail(Code::unavailable, "{}: the launcher has ended; restart belljar and look at its log",
         what);
  }
  pending_.emplace(request.serial, pending);
  co_await pending->answered.wait();
  const Reply& reply = pending->answer.reply;
  if (reply.type == ReplyType::failed) fail_errno(reply.error, what + ": " + reply.step);
  co_return std::move(pending->answer);
}

void LauncherClient::tell(Request request) noexcept {
  request.serial = 0;
  if (!lost_) send(request, {}, {});
}

void LauncherClient::on_exit(uint64_t sandbox, uint64_t process, ExitHandler handler) {
  exits_[{sandbox, process}] = std::move(handler);
}

void LauncherClient::forget_exit(uint64_t sandbox, uint64_t process) {
  exits_.erase({sandbox, process});
}

Task<> LauncherClient::shut_down(milliseconds limit) {
  ::shutdown(socket_.native_handle(), SHUT_WR);
  auto ended = pidfd_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
  if (!co_await with_timeout(limit, std::move(ended))) {
    log::warning("the launcher has not ended after {} ms", limit.count());
    co_return;
  }
  siginfo_t info{};
  ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.native_handle()), &info, WEXITED | WNOHANG);
}

}  // namespace belljar::linux_driver
