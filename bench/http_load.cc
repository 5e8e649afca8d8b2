// Asks an MCP server over HTTP for its list of tools as fast as it answers, one request at a time
// on each of a number of connections, and prints how fast that was:
//
//   http_load PORT [--connections N] [--seconds N] [--token TOKEN]
//
// Or opens streams on which nothing happens, and keeps them until its input ends:
//
//   http_load PORT --listen N [--token TOKEN]
//
// A client that does next to nothing itself, because it shares the machine with the server.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace belljar {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  uint16_t port = 0;
  int connections = 8;
  int seconds = 5;
  int listen = 0;
  std::string token;
};

std::string request(std::string_view method, std::string_view more, const Options& options) {
  const std::string body =
      fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{{{}"_meta":{{)"
                  R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                  R"("io.modelcontextprotocol/clientCapabilities":{{}}}}}}}})",
                  method, more);
  const std::string authorization =
      options.token.empty() ? "" : fmt::format("Authorization: Bearer {}\r\n", options.token);
  return fmt::format(
      "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}Content-Type: application/json\r\n"
      "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
      "Mcp-Method: {}\r\nContent-Length: {}\r\n\r\n{}",
      options.port, authorization, method, body.size(), body);
}

Fd connect_to(uint16_t port) {
  Fd fd{sys(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket")};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sys(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address),
      "connect to port {}", port);
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

// One connection, and the answer that is arriving on it.
class Client {
 public:
  explicit Client(uint16_t port) : fd_{connect_to(port)} {}

  int fd() const { return fd_.get(); }

  void send(const std::string& bytes) {
    received_ = 0;
    total_ = 0;
    head_.clear();
    sent_ = Clock::now();
    if (sys(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), "send") !=
        static_cast<ssize_t>(bytes.size()))
      fail(Code::unavailable, "the server does not read");
  }

  // Reads what has come; how long the answer took, once it is complete.
  std::optional<Clock::duration> receive() {
    static char buffer[256u << 10];
    const ssize_t count = sys(::recv(fd_.get(), buffer, sizeof buffer, 0), "receive");
    if (count == 0) fail(Code::unavailable, "the server has hung up");
    received_ += static_cast<size_t>(count);
    if (total_ == 0) read_head({buffer, static_cast<size_t>(count)});
    if (total_ == 0 || received_ < total_) return std::nullopt;
    return Clock::now() - sent_;
  }

 private:
  void read_head(std::string_view bytes) {
    head_ += bytes;
    const size_t end = head_.find("\r\n\r\n");
    if (end == std::string::npos) return;
    if (!head_.starts_with("HTTP/1.1 200 ")) fail(Code::unavailable, "{}", head_);
    constexpr std::string_view kLength = "\r\nContent-Length: ";
    const size_t at = head_.find(kLength);
    size_t length = 0;
    if (at < end)
      std::from_chars(head_.data() + at + kLength.size(), head_.data() + head_.size(), length);
    total_ = end + 4 + length;
  }

  Fd fd_;
  std::string head_;
  size_t received_ = 0;
  size_t total_ = 0;  // bytes of the answer; 0: not known yet
  Clock::time_point sent_;
};

void print_figures(std::vector<double> times, double seconds) {
  std::sort(times.begin(), times.end());
  const auto at = [&times](double part) {
    return times[std::min(times.size() - 1, static_cast<size_t>(part * double(times.size())))];
  };
  fmt::print("{:.0f} requests/s, p50 {:.3f} ms, p99 {:.3f} ms, longest {:.3f} ms\n",
             double(times.size()) / seconds, at(0.5), at(0.99), times.back());
}

void load(const Options& options) {
  const std::string bytes = request("tools/list", "", options);
  const Fd poll{sys(::epoll_create1(EPOLL_CLOEXEC), "make an epoll")};
  std::vector<Client> clients;
  clients.reserve(static_cast<size_t>(options.connections));
  for (int i = 0; i < options.connections; ++i) {
    Client& client = clients.emplace_back(options.port);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &client}};
    sys(::epoll_ctl(poll.get(), EPOLL_CTL_ADD, client.fd(), &event), "watch a socket");
    client.send(bytes);
  }
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  const Clock::time_point end = start + std::chrono::seconds{options.seconds};
  while (Clock::now() < end) {
    epoll_event events[64];
    const int count = sys(::epoll_wait(poll.get(), events, 64, 1000), "wait");
    for (int i = 0; i < count; ++i) {
      auto& client = *static_cast<Client*>(events[i].data.ptr);
      const auto took = client.receive();
      if (!took) continue;
      times.push_back(std::chrono::duration<double, std::milli>{*took}.count());
      client.send(bytes);
    }
  }
  if (times.empty()) fail(Code::unavailable, "the server has not answered");
  print_figures(std::move(times), std::chrono::duration<double>{Clock::now() - start}.count());
}

void listen(const Options& options) {
  const std::string bytes =
      request("subscriptions/listen", R"("notifications":{"toolsListChanged":true},)", options);
  std::vector<Client> clients;
  clients.reserve(static_cast<size_t>(options.listen));
  for (int i = 0; i < options.listen; ++i) {
    clients.emplace_back(options.port).send(bytes);
    clients.back().receive();
  }
  fmt::print("{} streams are open\n", clients.size());
  std::fflush(stdout);
  char byte = 0;
  while (::read(0, &byte, 1) > 0) continue;
}

int number(const std::vector<std::string>& words, size_t at) {
  int value = 0;
  const std::string word = at < words.size() ? words[at] : "";
  std::from_chars(word.data(), word.data() + word.size(), value);
  if (value <= 0) fail(Code::invalid, "a number is missing");
  return value;
}

Options read_options(const std::vector<std::string>& words) {
  Options options;
  options.port = static_cast<uint16_t>(number(words, 1));
  for (size_t i = 2; i < words.size(); i += 2) {
    if (words[i] == "--connections")
      options.connections = number(words, i + 1);
    else if (words[i] == "--seconds")
      options.seconds = number(words, i + 1);
    else if (words[i] == "--listen")
      options.listen = number(words, i + 1);
    else if (words[i] == "--token" && i + 1 < words.size())
      options.token = words[i + 1];
    else
      fail(Code::invalid, "unknown option: {}", words[i]);
  }
  return options;
}

}  // namespace
}  // namespace belljar

int main(int argc, char** argv) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  try {
    const belljar::Options options =
        belljar::read_options(std::vector<std::string>{argv, argv + argc});
    if (options.listen > 0)
      belljar::listen(options);
    else
      belljar::load(options);
    return 0;
  } catch (const belljar::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
