#include "drivers/docker/testing.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/posix.h"

namespace belljar::docker {
namespace {

// The value of the header `name`; "" if there is none.
std::string header_of(const std::string& head, const std::string& name) {
  const std::string start = "\r\n" + name + ": ";
  const size_t at = head.find(start);
  if (at == std::string::npos) return "";
  const size_t value = at + start.size();
  return head.substr(value, head.find("\r\n", value) - value);
}

size_t length_of_body(const std::string& head) {
  const std::string length = header_of(head, "Content-Length");
  return length.empty() ? 0 : std::stoul(length);
}

std::string make_directory() {
  char name[] = "/tmp/belljar-engine-XXXXXX";
  if (::mkdtemp(name) == nullptr) fail(Code::internal, "mkdtemp");
  return name;
}

}  // namespace

Fd listening_socket() {
  Fd socket{sys(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket")};
  sys(::listen(socket.get(), 16), "listen");
  return socket;
}

Fd connected_socket(const Fd& server) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  sys(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size), "its port");
  Fd socket{sys(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket")};
  sys(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), size), "connect");
  return socket;
}

FakeEngine::FakeEngine(Handler handler)
    : handler_{std::move(handler)}, directory_{make_directory()}, stop_{make_pipe()} {
  listener_.reset(sys(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strncpy(name.sun_path, address().socket.c_str(), sizeof name.sun_path - 1);
  sys(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), "bind");
  sys(::listen(listener_.get(), 16), "listen");
  thread_ = std::thread{[this] { serve(); }};
}

FakeEngine::~FakeEngine() {
  stop_.write.reset();
  thread_.join();
  ::unlink(address().socket.c_str());
  ::rmdir(directory_.c_str());
}

EngineAddress FakeEngine::address() const {
  return parse_engine_address("unix://" + directory_ + "/engine.sock");
}

std::vector<FakeRequest> FakeEngine::requests() const {
  const std::lock_guard lock{mutex_};
  return requests_;
}

void FakeEngine::serve() {
  while (true) {
    pollfd ready[] = {{listener_.get(), POLLIN, 0}, {stop_.read.get(), POLLIN, 0}};
    ::poll(ready, 2, -1);
    if (ready[1].revents != 0) return;
    const Fd connection{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (connection) serve_one(connection.get());
  }
}

void FakeEngine::serve_one(int connection) {
  std::string head;
  char c = 0;
  while (head.find("\r\n\r\n") == std::string::npos) {
    if (::recv(connection, &c, 1, 0) != 1) return;
    head += c;
  }
  FakeRequest request{.line = head.substr(0, head.find("\r\n")),
                      .body = "",
                      .registry_auth = header_of(head, "X-Registry-Auth")};
  for (size_t left = length_of_body(head); left > 0; --left) {
    if (::recv(connection, &c, 1, 0) != 1) return;
    request.body += c;
  }
  {
    const std::lock_guard lock{mutex_};
    requests_.push_back(request);
  }
  const std::string answer = handler_(request);
  if (answer == kSilence) {
    pollfd ready[] = {{connection, POLLIN | POLLRDHUP, 0}, {stop_.read.get(), POLLIN, 0}};
    ::poll(ready, 2, -1);
    return;
  }
  ::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
  ::shutdown(connection, SHUT_WR);
  while (::recv(connection, &c, 1, 0) > 0) continue;
}

}  // namespace belljar::docker
