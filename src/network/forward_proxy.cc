#include "network/forward_proxy.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include "net/read_head.h"
#include "network/accept.h"
#include "network/http_refusal.h"

namespace belljar::network {

namespace {

using Socket = asio::posix::stream_descriptor;
using std::chrono::seconds;

constexpr size_t kMaxHead = 16u << 10;
constexpr seconds kHeadLimit{30};
// How long a program that was refused may take to read why.
constexpr seconds kLastWords{2};
constexpr std::string_view kConnected = "HTTP/1.1 200 Connection established\r\n\r\n";

Task<> write_all(Socket& socket, std::string_view text) {
  auto writing = asio::async_write(socket, asio::buffer(text), asio::use_awaitable);
  co_await std::move(writing);
}

// Lets the program read the last answer: what it still sends would reset the connection.
Task<> see_off(Socket& socket) {
  ::shutdown(socket.native_handle(), SHUT_WR);
  std::array<char, 4096> ignored;
  for (;;) co_await socket.async_read_some(asio::buffer(ignored), asio::use_awaitable);
}

int status_of(Code code) {
  switch (code) {
    case Code::denied: return 403;
    case Code::invalid: return 400;
    case Code::exhausted: return 503;
    default: return 502;
  }
}

}  // namespace

ForwardProxy::ForwardProxy(const asio::any_io_executor& executor, Fd listener, Policy policy,
                           Passage::Shared shared)
    : passage_{std::move(policy), shared},
      listener_{executor, listener.release()},
      tasks_{executor} {
  tasks_.spawn("accept at a proxy", accept());
}

Task<> ForwardProxy::stop() {
  co_await tasks_.stop();
  listener_.close();
}

Task<> ForwardProxy::accept() {
  for (;;) {
    Fd program = co_await accept_next(listener_);
    if (open_ >= kMostOpen || passage_.budget().limit(0, 1) != Limit::none) continue;
    tasks_.spawn("serve a proxy's client", serve(std::move(program)));
  }
}

Task<> ForwardProxy::serve(Fd socket) {
  const Counted counted{open_};
  const Budget::Share share{passage_.budget(), 1};
  Socket program{co_await asio::this_coro::executor, socket.release()};
  std::string refusal;
  try {
    auto head = co_await with_timeout(kHeadLimit, net::read_head(program, kMaxHead));
    if (!head || head->empty()) co_return;
    co_await carry(program, std::move(*head));
    co_return;
  } catch (const Error& e) {
    refusal = http_refusal(status_of(e.code()), e.what());
  } catch (const boost::system::system_error& e) {
    if (e.code() == asio::error::operation_aborted) throw;
    co_return;  // the program has left
  }
  try {
    co_await write_all(program, refusal);
    co_await with_timeout(kLastWords, see_off(program));
  } catch (const boost::system::system_error& e) {
    if (e.code() == asio::error::operation_aborted) throw;
  }
}

Task<> ForwardProxy::carry(Socket& program, std::string head) {
  const ProxyRequest request = read_proxy_request(head);
  const Limit limit = passage_.budget().limit(carried_, kConnection);
  if (limit != Limit::none) {
    passage_.refuse(request.host, request.port, limit);
    fail(Code::exhausted, "there are too many connections at a time; close some");
  }
  const Counted counted{carried_};
  const Budget::Share share{passage_.budget(), kConnection};
  Passage::Dialled outside = co_await reach(request);
  if (request.is_tunnel()) {
    co_await write_all(program, kConnected);
  } else {
    Socket host{co_await asio::this_coro::executor, outside.socket.release()};
    co_await write_all(host, request.head);
    outside.socket = Fd{host.release()};
  }
  co_await passage_.join(Fd{program.release()}, std::move(outside));
}

void ForwardProxy::block(const ProxyRequest& request) {
  passage_.block(request.host, request.port);
  fail(Code::denied, "{}:{} is not to be reached from this sandbox, whose network is \"{}\"",
       request.host, request.port, passage_.policy().text());
}

// The ways that are open; at least one.
Task<std::vector<Passage::Way>> ForwardProxy::ways_to(const ProxyRequest& request) {
  std::vector<asio::ip::address> addresses;
  if (request.address) {
    addresses.push_back(*request.address);
  } else {
    if (!passage_.policy().allows_name(request.host)) block(request);
    addresses = co_await passage_.look_up(request.host);
    if (addresses.empty()) fail(Code::unavailable, "{} has no address", request.host);
  }
  std::vector<Passage::Way> ways;
  for (const asio::ip::address& address : addresses) {
    Passage::Way way = passage_.judge({address, request.port});
    if (way.open) ways.push_back(std::move(way));
  }
  if (ways.empty()) block(request);
  co_return ways;
}

// By the first way on which somebody answers.
Task<Passage::Dialled> ForwardProxy::reach(const ProxyRequest& request) {
  std::vector<Passage::Way> ways = co_await ways_to(request);
  std::string why;
  for (Passage::Way& way : ways) {
    try {
      auto dialled = co_await passage_.dial(std::move(way));
      if (dialled) co_return std::move(*dialled);
      why = fmt::format("{}:{} does not answer", request.host, request.port);
    } catch (const Error& e) {
      why = e.what();
    }
  }
  fail(Code::unavailable, "{}", why);
}

std::map<std::string, std::string> proxy_variables(uint16_t port) {
  const std::string url = fmt::format("http://127.0.0.1:{}", port);
  const std::string direct = "localhost,127.0.0.1,::1";
  return {{"HTTP_PROXY", url},
          {"HTTPS_PROXY", url},
          {"NO_PROXY", direct},
          // Some programs know only these, because a web server sets HTTP_PROXY for a CGI program
          // as its client likes.
          {"http_proxy", url},
          {"https_proxy", url},
          {"no_proxy", direct},
          {"NODE_USE_ENV_PROXY", "1"}};
}

}  // namespace belljar::network
