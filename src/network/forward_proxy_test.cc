#include "network/forward_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "base/fake_clock.h"
#include "base/testing.h"

namespace belljar::network {
namespace {

using asio::ip::tcp;
using asio::ip::udp;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr size_t kPlenty = 10000;
constexpr milliseconds kPatience = std::chrono::hours{1};  // never passes in a test
const tcp::endpoint kAnyPort{asio::ip::address_v4::loopback(), 0};

tcp::acceptor listen(const asio::any_io_executor& executor) {
  tcp::acceptor acceptor{executor, kAnyPort};
  acceptor.non_blocking(true);
  return acceptor;
}

// A proxy with a policy, a server that accepts connections, and a name server that knows where
// every name leads to: to this host.
struct Bench {
  Bench(const asio::any_io_executor& executor, const std::string& policy,
        size_t descriptors = kPlenty)
      : server{listen(executor)},
        names{executor, udp::endpoint{asio::ip::address_v4::loopback(), 0}},
        resolver{NameServerList{names.local_endpoint()}, kPatience},
        budget{descriptors},
        inside{listen(executor)},
        at_proxy{inside.local_endpoint()},
        proxy{executor,
              Fd{inside.release()},
              Policy::parse(policy),
              {resolver, budget, clock, nullptr}},
        tasks{executor} {
    tasks.spawn("answer", answer_queries());
  }

  Task<> answer_queries() {
    for (;;) {
      std::array<char, 1024> buffer;
      udp::endpoint from;
      const size_t size =
          co_await names.async_receive_from(asio::buffer(buffer), from, asio::use_awaitable);
      const std::string query{buffer.data(), size};
      const std::string answer =
          make_address_answer(query, parse_query(query).value(), kAnyPort.address(), 60);
      names.send_to(asio::buffer(answer), from);
      ++queries;
    }
  }

  // As a program does.
  Task<tcp::socket> connect(std::string says) {
    tcp::socket socket{co_await asio::this_coro::executor};
    co_await socket.async_connect(at_proxy, asio::use_awaitable);
    auto writing = asio::async_write(socket, asio::buffer(says), asio::use_awaitable);
    co_await std::move(writing);
    co_return socket;
  }

  std::string tunnel_to(const std::string& host) const {
    return fmt::format("CONNECT {}:{} HTTP/1.1\r\n\r\n", host, server.local_endpoint().port());
  }

  Task<> stop() {
    co_await proxy.stop();
    co_await tasks.stop();
    EXPECT_EQ(budget.used(), 0u);
  }

  tcp::acceptor server;
  udp::socket names;
  Resolver resolver;
  Budget budget;
  FakeClock clock;
  tcp::acceptor inside;
  tcp::endpoint at_proxy;
  ForwardProxy proxy;
  TaskGroup tasks;
  int queries = 0;
};

// Up to and with the end of a head; what follows stays in `kept`.
Task<std::string> read_head(tcp::socket& socket, std::string& kept) {
  auto reading =
      asio::async_read_until(socket, asio::dynamic_buffer(kept), "\r\n\r\n", asio::use_awaitable);
  const size_t size = co_await std::move(reading);
  std::string head = kept.substr(0, size);
  kept.erase(0, size);
  co_return head;
}

Task<std::string> read_all(tcp::socket& socket) {
  std::string all;
  boost::system::error_code ended;
  auto reading = asio::async_read(socket, asio::dynamic_buffer(all),
                                  asio::redirect_error(asio::use_awaitable, ended));
  co_await std::move(reading);
  co_return all;
}

// What the proxy answers to somebody who gets no connection.
Task<std::string> refusal(Bench& bench, std::string says) {
  tcp::socket program = co_await bench.connect(std::move(says));
  co_return co_await read_all(program);
}

std::vector<std::string> seen(const ForwardProxy& proxy) {
  std::vector<std::string> lines;
  for (const Traffic& entry : proxy.traffic()) {
    const char* verdicts[] = {"allowed", "blocked", "failed"};
    lines.push_back(fmt::format("{} {} {}", entry.host, verdicts[static_cast<int>(entry.verdict)],
                                entry.attempts));
  }
  return lines;
}

Task<> tunnels() {
  Bench bench{co_await asio::this_coro::executor, "host"};
  // What follows the head at once belongs to the connection.
  tcp::socket program = co_await bench.connect(bench.tunnel_to("server.test") + "ping");
  tcp::socket server = co_await bench.server.async_accept(asio::use_awaitable);
  std::string kept;
  const std::string head = co_await read_head(program, kept);
  EXPECT_EQ(head, "HTTP/1.1 200 Connection established\r\n\r\n");
  std::string heard(4, '\0');
  co_await asio::async_read(server, asio::buffer(heard), asio::use_awaitable);
  EXPECT_EQ(heard, "ping");
  co_await server.async_write_some(asio::buffer("pong", 4), asio::use_awaitable);
  server.close();
  const std::string rest = co_await read_all(program);
  EXPECT_EQ(kept + rest, "pong");
  program.close();
  co_await bench.stop();
  EXPECT_THAT(seen(bench.proxy), ElementsAre("server.test allowed 1"));
  EXPECT_EQ(bench.proxy.traffic().at(0).bytes, 8u);
}

TEST(ForwardProxy, CarriesAConnectionByName) {
  run(tunnels());
}

Task<> sends_requests() {
  Bench bench{co_await asio::this_coro::executor, "host"};
  const uint16_t port = bench.server.local_endpoint().port();
  tcp::socket program = co_await bench.connect(
      fmt::format("POST http://10.0.2.2:{}/x HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody", port));
  tcp::socket server = co_await bench.server.async_accept(asio::use_awaitable);
  std::string kept;
  const std::string head = co_await read_head(server, kept);
  EXPECT_EQ(head, fmt::format("POST /x HTTP/1.1\r\nHost: 10.0.2.2:{}\r\nContent-Length: 4\r\n"
                              "Connection: close\r\n\r\n",
                              port));
  std::string body(4 - kept.size(), '\0');
  co_await asio::async_read(server, asio::buffer(body), asio::use_awaitable);
  EXPECT_EQ(kept + body, "body");
  const std::string answer = "HTTP/1.1 204 No Content\r\n\r\n";
  co_await server.async_write_some(asio::buffer(answer), asio::use_awaitable);
  server.close();
  const std::string got = co_await read_all(program);
  EXPECT_EQ(got, answer);
  program.close();
  co_await bench.stop();
}

TEST(ForwardProxy, SendsARequestForAWholeAddress) {
  run(sends_requests());
}

Task<> cut_anywhere() {
  Bench bench{co_await asio::this_coro::executor, "host"};
  const std::string head = bench.tunnel_to("10.0.2.2");
  for (size_t cut = 1; cut < head.size(); ++cut) {
    tcp::socket program = co_await bench.connect(head.substr(0, cut));
    program.set_option(tcp::no_delay{true});
    const std::string rest = head.substr(cut);
    auto writing = asio::async_write(program, asio::buffer(rest), asio::use_awaitable);
    co_await std::move(writing);
    tcp::socket server = co_await bench.server.async_accept(asio::use_awaitable);
    std::string kept;
    const std::string answer = co_await read_head(program, kept);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 ")) << cut;
  }
  co_await bench.stop();
}

TEST(ForwardProxy, ReadsAHeadThatComesInPieces) {
  run(cut_anywhere());
}

Task<> blocks() {
  Bench bench{co_await asio::this_coro::executor, "allow:good.test,*.fine.test:8080"};
  // The last ones lead to this host, as an attacker's names may.
  for (const char* host : {"10.0.2.2", "127.0.0.1", "169.254.169.254", "[::1]",
                           "[::ffff:127.0.0.1]", "bad.test", "fine.test"}) {
    const std::string text = co_await refusal(bench, bench.tunnel_to(host));
    EXPECT_THAT(text, StartsWith("HTTP/1.1 403 ")) << host;
    EXPECT_THAT(text, HasSubstr("\"allow:*.fine.test:8080,good.test\"")) << host;
  }
  EXPECT_EQ(bench.queries, 0);
  const std::string rebound = co_await refusal(bench, "CONNECT good.test:443 HTTP/1.1\r\n\r\n");
  EXPECT_THAT(rebound, StartsWith("HTTP/1.1 403 "));
  EXPECT_GT(bench.queries, 0);
  const std::string address = co_await refusal(bench, "GET http://good.test/ HTTP/1.1\r\n\r\n");
  EXPECT_THAT(address, StartsWith("HTTP/1.1 403 "));
  co_await bench.stop();
  EXPECT_THAT(seen(bench.proxy),
              ElementsAre("10.0.2.2 blocked 1", "127.0.0.1 blocked 2", "169.254.169.254 blocked 1",
                          "::1 blocked 1", "bad.test blocked 1", "fine.test blocked 1",
                          "good.test blocked 1", "good.test blocked 1"));
}

TEST(ForwardProxy, BlocksWhatThePolicyDoesNotAllow) {
  run(blocks());
}

Task<> complains() {
  Bench bench{co_await asio::this_coro::executor, "host"};
  const std::string odd = co_await refusal(bench, "GET / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(odd, StartsWith("HTTP/1.1 400 "));
  const std::string endless = co_await refusal(bench, std::string(20000, 'x'));
  EXPECT_THAT(endless, StartsWith("HTTP/1.1 400 "));
  const std::string to_nobody = bench.tunnel_to("10.0.2.2");
  bench.server.close();
  const std::string nobody = co_await refusal(bench, to_nobody);
  EXPECT_THAT(nobody, StartsWith("HTTP/1.1 502 "));
  co_await bench.stop();
  EXPECT_THAT(seen(bench.proxy), ElementsAre("10.0.2.2 failed 1"));
}

TEST(ForwardProxy, SaysWhyThereIsNoConnection) {
  run(complains());
}

Task<> has_a_limit() {
  // Enough for one that leads somewhere, and for two programs that ask.
  Bench bench{co_await asio::this_coro::executor, "host", kConnection + 2};
  tcp::socket first = co_await bench.connect(bench.tunnel_to("10.0.2.2"));
  tcp::socket server = co_await bench.server.async_accept(asio::use_awaitable);
  const std::string second = co_await refusal(bench, bench.tunnel_to("10.0.2.2"));
  EXPECT_THAT(second, StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(bench.proxy.traffic().back().over_shared_limit, 1u);
  co_await bench.stop();
}

TEST(ForwardProxy, HasALimit) {
  run(has_a_limit());
}

TEST(ForwardProxy, IsFoundByVariables) {
  const auto variables = proxy_variables(3128);
  EXPECT_EQ(variables.at("HTTPS_PROXY"), "http://127.0.0.1:3128");
  EXPECT_EQ(variables.at("http_proxy"), "http://127.0.0.1:3128");
  EXPECT_THAT(variables.at("NO_PROXY"), HasSubstr("127.0.0.1"));
}

}  // namespace
}  // namespace belljar::network
