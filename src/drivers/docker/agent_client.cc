#include "drivers/docker/agent_client.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/log.h"
#include "drivers/docker/agent/packet.h"

namespace belljar::docker {

using agent::Reply;
using agent::ReplyType;
using agent::Request;
using agent::RequestType;

namespace {

// An agent that leaves so many requests unread does not work any more.
constexpr size_t kMostUnsent = 1024;
// What is read of one agent before others have their turn.
constexpr int kMostAtOnce = 64;

bool is_passing(int error) {
  return error == EAGAIN || error == ENOMEM || error == ENOBUFS;
}

// The pipe is belljar's, and a program of another user could not open it as /dev/stdout. Who has no
// descriptor of it cannot reach it anyway. A FIFO on some disk stays as it is.
void let_anybody_open(int fd) {
  struct statfs info {};
  if (::fstatfs(fd, &info) == 0 && info.f_type == PIPEFS_MAGIC) ::fchmod(fd, 0666);
}

}  // namespace

struct AgentClient::Pending {
  Pending(const asio::any_io_executor& executor, const Request& asked)
      : request{asked}, answered{executor} {}
  const Request request;
  Event answered;
  bool is_lost = false;
  Reply reply{};
  Fd fd;

  void lose() {
    is_lost = true;
    answered.set();
  }

  // What `what` asked for, when it has been answered.
  void check(const std::string& what) const {
    if (is_lost)
      fail(Code::unavailable, "{}: the container has ended, or its agent no longer answers", what);
    if (reply.type == ReplyType::failed) fail_as(reply, what);
  }

  // True if a reply that says `done` has what was asked for, and nothing else.
  bool is_answered_by(const Fd& came, Way way) const {
    const bool listening = request.type == RequestType::listen;
    if (!listening && request.type != RequestType::connect) return !came;
    if (way == Way::carried) return came && is_carried_socket(came.get(), listening);
    return came && is_tcp_socket(came.get(), listening);
  }
};

AgentClient::AgentClient(const asio::any_io_executor& executor, Fd socket, AgentHello hello)
    : socket_{executor, socket.release()}, hello_{std::move(hello)} {
  socket_.non_blocking(true);
  read_when_ready();
}

AgentClient::~AgentClient() {
  *exists_ = false;
  for (const auto& [serial, pending] : pending_) pending->lose();
}

void AgentClient::read_when_ready() {
  socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [this, exists = exists_](const boost::system::error_code& error) {
                       if (*exists && !error && !closed_) read_replies();
                     });
}

void AgentClient::read_replies() {
  const auto exists = exists_;
  for (int i = 0; i < kMostAtOnce; ++i) {
    char bytes[sizeof(Reply)];
    Fd fds[1];
    const agent::Packet packet =
        agent::receive_packet(socket_.native_handle(), bytes, sizeof bytes, fds);
    if (is_passing(packet.error)) return read_when_ready();
    if (packet.error != 0 || packet.size == 0) return lost();
    const bool is_right =
        packet.whole && take({bytes, packet.size}, std::span{fds}.first(packet.fds));
    if (!*exists || closed_) return;
    if (!is_right) {
      log::warning("the agent of process {} says what no agent says; its container ends",
                   hello_.pid);
      return lost();
    }
  }
  read_when_ready();
}

// False if it is nothing that an agent may say now.
bool AgentClient::take(std::string_view bytes, std::span<Fd> fds) {
  const auto reply = parse_reply(bytes, fds.size());
  if (!reply) return false;
  if (reply->type == ReplyType::ended) return take_end(*reply);
  const auto at = pending_.find(reply->serial);
  if (at == pending_.end()) return false;
  const Answer pending = at->second;
  if (!fds.empty()) pending->fd = std::move(fds[0]);
  if (reply->type == ReplyType::done && !pending->is_answered_by(pending->fd, hello_.way))
    return false;
  pending_.erase(at);
  const Request& request = pending->request;
  if (request.type == RequestType::start && reply->type == ReplyType::failed) {
    const auto program = programs_.find(request.program);
    if (program != programs_.end()) program->second.is_started = false;
  }
  pending->reply = *reply;
  pending->answered.set();
  return true;
}

bool AgentClient::take_end(const Reply& reply) {
  const auto at = programs_.find(reply.program);
  if (at == programs_.end() || !at->second.is_started || at->second.end) return false;
  at->second.end =
      ProgramEnd{reply.status, reply.cpu_micros, reply.max_rss, reply.out_of_memory != 0};
  deliver_end(reply.program);
  return true;
}

// To its handler, if it has one by now.
void AgentClient::deliver_end(uint64_t program) {
  const auto at = programs_.find(program);
  if (at == programs_.end() || !at->second.end || !at->second.handler) return;
  const Program ended = std::move(at->second);
  programs_.erase(at);
  ended.handler(*ended.end);
}

void AgentClient::on_end(uint64_t program, EndHandler handler) {
  Program& known = programs_[program];
  known.handler = std::move(handler);
  if (closed_) known.end = killed();
  if (!known.end) return;
  asio::post(socket_.get_executor(), [this, program, exists = exists_] {
    if (*exists) deliver_end(program);
  });
}

// One that still runs is kept in mind, because its end will be told.
void AgentClient::forget(uint64_t program) {
  const auto at = programs_.find(program);
  if (at == programs_.end()) return;
  at->second.handler = nullptr;
  if (closed_ || at->second.end || !at->second.is_started) programs_.erase(at);
}

int AgentClient::send(const Request& request, std::span<const int> fds) {
  if (closed_) return ECONNRESET;
  int error = EAGAIN;
  if (unsent_.empty())
    error = agent::send_packet(socket_.native_handle(), &request, sizeof request, fds);
  if (!is_passing(error)) return error;
  if (unsent_.size() >= kMostUnsent) return EBUSY;
  Unsent unsent{request, {}};
  for (const int fd : fds) {
    unsent.fds.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!unsent.fds.back()) return errno;
  }
  unsent_.push_back(std::move(unsent));
  if (unsent_.size() == 1) write_when_ready();
  return 0;
}

void AgentClient::write_when_ready() {
  socket_.async_wait(asio::posix::stream_descriptor::wait_write,
                     [this, exists = exists_](const boost::system::error_code& error) {
                       if (*exists && !error && !closed_) write_unsent();
                     });
}

void AgentClient::write_unsent() {
  while (!unsent_.empty()) {
    const Unsent& next = unsent_.front();
    std::vector<int> fds;
    fds.reserve(next.fds.size());
    for (const Fd& fd : next.fds) fds.push_back(fd.get());
    const int error =
        agent::send_packet(socket_.native_handle(), &next.request, sizeof next.request, fds);
    if (is_passing(error)) return write_when_ready();
    if (error != 0) return lost();
    unsent_.pop_front();
  }
}

// Sends a request; its answer is there when the result says so.
AgentClient::Answer AgentClient::ask(Request request, std::span<const int> fds,
                                     const std::string& what) {
  request.serial = next_serial_++;
  if (next_serial_ == 0) next_serial_ = 1;
  auto pending = std::make_shared<Pending>(socket_.get_executor(), request);
  const int error = send(request, fds);
  if (error == EMFILE || error == ENFILE || error == ETOOMANYREFS) fail_errno(error, what);
  if (error != 0) {
    pending->is_lost = true;
    pending->check(what);
  }
  pending_.emplace(request.serial, pending);
  return pending;
}

ProgramEnd AgentClient::killed() const {
  ProgramEnd end;
  end.status = SIGKILL;
  end.out_of_memory = out_of_memory_;
  return end;
}

void AgentClient::lose(bool out_of_memory) {
  if (closed_) return;
  out_of_memory_ = out_of_memory;
  lost();
}

void AgentClient::lost() {
  if (std::exchange(closed_, true)) return;
  boost::system::error_code ignored;
  socket_.close(ignored);  // the agent ends, if it has not yet
  unsent_.clear();
  for (const auto& [serial, pending] : std::exchange(pending_, {})) {
    pending->lose();
  }
  const std::function<void()> handler = std::move(close_handler_);
  for (auto& [number, program] : std::exchange(programs_, {})) {
    if (!program.handler) continue;
    program.handler(program.end.value_or(killed()));
  }
  if (handler) handler();
}

Task<> AgentClient::start(uint64_t program, const Command& command, int in, int out, int err) {
  const Fd package = pack_command(command);
  const std::string what = "start " + command.argv.front();
  for (const int fd : {in, out, err}) let_anybody_open(fd);
  Request request{};
  request.type = RequestType::start;
  request.program = program;
  const std::array<int, 4> fds{in, out, err, package.get()};
  const Answer answer = ask(request, fds, what);
  programs_[program].is_started = true;
  co_await answer->answered.wait();
  answer->check(what);
}

void AgentClient::kill(uint64_t program) noexcept {
  Request request{};
  request.type = RequestType::kill;
  request.program = program;
  if (closed_) return;
  int error = 0;
  try {
    error = send(request, {});
  } catch (const std::exception&) {
    error = ENOMEM;  // there is none to wait with
  }
  // What cannot be killed by itself ends with its container, once the end has been read.
  if (error != 0) ::shutdown(socket_.native_handle(), SHUT_RDWR);
}

Task<Fd> AgentClient::connect(uint16_t port) {
  Request request{};
  request.type = RequestType::connect;
  request.number = port;
  return ask_for_socket(request, fmt::format("port {} of the sandbox", port));
}

Task<Fd> AgentClient::listen() {
  Request request{};
  request.type = RequestType::listen;
  return ask_for_socket(request, "listen in the sandbox");
}

Task<Fd> AgentClient::ask_for_socket(Request request, std::string what) {
  const Answer answer = ask(request, {}, what);
  co_await answer->answered.wait();
  answer->check(what);
  const int flags = sys(::fcntl(answer->fd.get(), F_GETFL), "look at a socket");
  sys(::fcntl(answer->fd.get(), F_SETFL, flags | O_NONBLOCK), "make a socket non-blocking");
  co_return std::move(answer->fd);
}

Task<> AgentClient::link_packages(uint32_t number) {
  const std::string what = "put packages in their place";
  Request request{};
  request.type = RequestType::link;
  request.number = number;
  const Answer answer = ask(request, {}, what);
  co_await answer->answered.wait();
  answer->check(what);
}

}  // namespace belljar::docker
