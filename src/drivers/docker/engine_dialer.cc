#include "drivers/docker/engine_dialer.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/error.h"
#include "drivers/docker/agent/packet.h"

namespace belljar::docker {

namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    fail(Code::invalid, "the path of the engine's socket is too long: {}", path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

// Never blocks: a full queue of the engine's is an error.
EngineDialer::Dialed connect_to(const sockaddr_un& address) {
  EngineDialer::Dialed dialed;
  Fd connection{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (connection &&
      ::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    dialed.connection = std::move(connection);
  else
    dialed.error = errno;
  return dialed;
}

// Ends with its asker, not by what a terminal sends to all of its processes.
[[noreturn]] void serve(int socket, const sockaddr_un& address) {
  constexpr int kOnly = 3;
  ::setsid();
  for (const int ignored : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(ignored, SIG_IGN);
  ::prctl(PR_SET_NAME, "belljar-dialer");
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0 || ::dup2(nothing, STDOUT_FILENO) < 0 ||
      (socket != kOnly && ::dup2(socket, kOnly) < 0) || ::close_range(kOnly + 1, ~0u, 0) != 0)
    ::_exit(1);
  for (;;) {
    char byte = 0;
    const agent::Packet asked = agent::receive_packet(kOnly, &byte, sizeof byte, {});
    if (asked.error != 0 || asked.size == 0) ::_exit(0);
    const EngineDialer::Dialed dialed = connect_to(address);
    const int connection = dialed.connection.get();
    const std::span<const int> fds{&connection, dialed.connection ? 1u : 0u};
    if (agent::send_packet(kOnly, &dialed.error, sizeof dialed.error, fds) != 0) ::_exit(1);
  }
}

}  // namespace

EngineDialer::EngineDialer(const std::string& socket_path) {
  const sockaddr_un address = address_of(socket_path);
  int ends[2];
  sys(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "make the dialer's socket");
  socket_.reset(ends[0]);
  const Fd theirs{ends[1]};
  process_ = sys(::fork(), "start the dialer");
  if (process_ == 0) serve(theirs.get(), address);
}

EngineDialer::~EngineDialer() {
  socket_.reset();
  ::waitpid(process_, nullptr, 0);
}

Task<EngineDialer::Dialed> EngineDialer::dial() {
  const auto ask = [this] {
    Dialed dialed;
    const char byte = 0;
    Fd received[1];
    agent::Packet answer;
    if (agent::send_packet(socket_.get(), &byte, sizeof byte, {}) == 0)
      answer = agent::receive_packet(socket_.get(), &dialed.error, sizeof dialed.error, received);
    if (answer.size != sizeof dialed.error || !answer.whole)
      fail(Code::unavailable,
           "belljar's process that connects to the engine has ended: restart belljar");
    dialed.connection = std::move(received[0]);
    return dialed;
  };
  co_return co_await run_blocking(ask);
}

}  // namespace belljar::docker
