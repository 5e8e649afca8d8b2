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

launcher::Request request_for(launcher::RequestType type, uint64_t sandbox, uint64_t process) {
  launcher::Request request{};
  request.type = type;
  request.sandbox = sandbox;
  request.process = process;
  return request;
}

struct LauncherClient::Pending {
  explicit Pending(const asio::any_io_executor& executor) : answered{executor} {}
  Event answered;
  Answer answer;
};

LauncherClient::LauncherClient(const asio::any_io_executor& executor, LauncherProcess launcher)
    : socket_{executor, launcher.socket.release()},
      pidfd_{executor, launcher.pidfd.release()},
      moment_{executor} {
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
  const Received last = take_replies();
  dispatch_taken();
  if (last == Received::nothing) return read_when_ready();
  lost();
}

Received LauncherClient::take_replies() {
  for (;;) {
    Answer& next = taken_.emplace_back();
    const Received received = receive_reply(socket_.native_handle(), next.reply, next.fds);
    if (received == Received::reply) continue;
    taken_.pop_back();
    return received;
  }
}

void LauncherClient::dispatch_taken() {
  while (!taken_.empty()) {
    Answer next = std::move(taken_.front());
    taken_.pop_front();
    dispatch(std::move(next));
  }
}

// A launcher with much to say waits until we have read it, and reads nothing meanwhile. If we only
// waited for it, too, that would be for ever. Its replies are dealt with later, because the caller
// is in the middle of something.
bool LauncherClient::send(const Request& request, std::string_view payload,
                          std::span<const int> fds) {
  for (;;) {
    const Sent sent = send_request(socket_.native_handle(), request, payload, fds);
    if (sent != Sent::full) return sent == Sent::yes;
    pollfd wait{socket_.native_handle(), POLLIN | POLLOUT, 0};
    ::poll(&wait, 1, 1000);
    const bool had_none = taken_.empty();
    take_replies();
    if (!had_none || taken_.empty()) continue;
    asio::post(socket_.get_executor(), [this, alive = alive_] {
      if (*alive) dispatch_taken();
    });
  }
}

void LauncherClient::dispatch(Answer answer) {
  const Reply& reply = answer.reply;
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
  if (reply.type == ReplyType::zygote_died) {
    if (zygote_death_) zygote_death_(reply.sandbox);
    return;
  }
  facts_ = reply.facts;
  const auto at = pending_.find(reply.serial);
  if (at == pending_.end()) return;
  const auto pending = at->second;
  pending_.erase(at);
  pending->answer = std::move(answer);
  pending->answered.set();
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

void LauncherClient::destroy_soon(uint64_t sandbox, std::shared_ptr<const void> use) noexcept {
  constexpr milliseconds kMoment{3};
  try {
    unwanted_.push_back({sandbox, std::move(use)});
    if (unwanted_.size() > 1) return;
    moment_.expires_after(kMoment);
    moment_.async_wait([this, alive = alive_](const boost::system::error_code&) {
      if (*alive) destroy_unwanted();
    });
  } catch (const std::exception&) {  // there is no memory to wait with
    destroy_unwanted();
  }
}

void LauncherClient::destroy_unwanted() noexcept {
  for (const Unwanted& each : std::exchange(unwanted_, {})) {
    Request request{};
    request.type = launcher::RequestType::destroy;
    request.sandbox = each.sandbox;
    tell(request);
  }
}

void LauncherClient::on_exit(uint64_t sandbox, uint64_t process, ExitHandler handler) {
  exits_[{sandbox, process}] = std::move(handler);
}

void LauncherClient::forget_exit(uint64_t sandbox, uint64_t process) {
  exits_.erase({sandbox, process});
}

Task<> LauncherClient::shut_down(milliseconds limit) {
  destroy_unwanted();
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
