#include "drivers/docker/agent_listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "drivers/docker/agent/packet.h"

namespace belljar::docker {

namespace {

// Through the descriptor: the path of the directory may be longer than an address has room for.
Fd listen_in(int directory) {
  Fd socket{sys(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                "make a socket for the agent")};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", directory, agent::kSocketName);
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  sys(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
      "bind the agent's socket");
  // The container's user may be anybody.
  sys(::fchmodat(directory, agent::kSocketName, 0666, 0), "open the agent's socket to it");
  sys(::listen(socket.get(), 4), "listen for the agent");
  return socket;
}

int pid_of_peer(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  sys(::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size), "see who the agent is");
  return peer.pid;
}

Task<> wait_to_read(asio::posix::stream_descriptor& socket) {
  co_await socket.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
}

}  // namespace

AgentListener::AgentListener(const asio::any_io_executor& executor, int directory)
    : directory_{sys(::fcntl(directory, F_DUPFD_CLOEXEC, 0), "keep the agent's directory")},
      socket_{executor, listen_in(directory).release()} {}

AgentListener::~AgentListener() {
  remove_name();
}

void AgentListener::remove_name() noexcept {
  if (directory_) ::unlinkat(directory_.get(), agent::kSocketName, 0);
  directory_.reset();
}

Task<std::unique_ptr<AgentClient>> AgentListener::accept() {
  for (;;) {
    co_await wait_to_read(socket_);
    Fd peer{::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!peer && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)) continue;
    sys(peer.get(), "accept the agent");
    std::unique_ptr<AgentClient> client = co_await greet(std::move(peer));
    if (!client) continue;
    remove_name();
    co_return client;
  }
}

// Nothing if what it says is no hello.
Task<std::unique_ptr<AgentClient>> AgentListener::greet(Fd peer) {
  const int pid = pid_of_peer(peer.get());
  asio::posix::stream_descriptor socket{co_await asio::this_coro::executor, peer.release()};
  auto hello = co_await read_hello(socket, Way::shared);
  if (!hello) {
    log::warning("process {} has connected as an agent, but it is none", pid);
    co_return nullptr;
  }
  hello->pid = pid;
  Fd released{socket.release()};
  co_return std::make_unique<AgentClient>(socket.get_executor(), std::move(released),
                                          std::move(*hello));
}

Task<std::optional<AgentHello>> read_hello(asio::posix::stream_descriptor& socket, Way way) {
  for (;;) {
    co_await wait_to_read(socket);
    char bytes[sizeof(agent::Hello)];
    Fd fds[1];
    const agent::Packet packet =
        agent::receive_packet(socket.native_handle(), bytes, sizeof bytes, fds);
    if (packet.error == EAGAIN || packet.error == ENOMEM || packet.error == ENOBUFS) continue;
    if (packet.error != 0 || !packet.whole) co_return std::nullopt;
    co_return parse_hello({bytes, packet.size}, std::span{fds}.first(packet.fds), way);
  }
}

}  // namespace belljar::docker
