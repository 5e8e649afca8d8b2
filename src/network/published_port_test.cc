#include "network/published_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "base/testing.h"

namespace belljar::network {
namespace {

using asio::ip::tcp;
using Local = asio::local::stream_protocol::socket;

// A port that is free now; nobody else on a test machine takes it in the next moment.
uint16_t free_port(const asio::any_io_executor& executor) {
  tcp::acceptor acceptor{executor, {asio::ip::address_v4::loopback(), 0}};
  return acceptor.local_endpoint().port();
}

// The inside of a sandbox: every connection gets all it sends back, after its last byte.
struct Echo {
  explicit Echo(const asio::any_io_executor& executor) : tasks{executor} {}

  Task<Fd> connect() {
    const auto executor = co_await asio::this_coro::executor;
    Local ours{executor};
    Local theirs{executor};
    asio::local::connect_pair(ours, theirs);
    tasks.spawn("echo", echo(std::move(theirs)));
    ours.non_blocking(true);
    co_return Fd{ours.release()};
  }

  Task<> echo(Local socket) {
    std::string all;
    boost::system::error_code end;
    co_await asio::async_read(socket, asio::dynamic_buffer(all),
                              asio::redirect_error(asio::use_awaitable, end));
    co_await asio::async_write(socket, asio::buffer(all), asio::use_awaitable);
  }

  TaskGroup tasks;
};

Task<std::string> exchange(uint16_t port, std::string text) {
  tcp::socket socket{co_await asio::this_coro::executor};
  const tcp::endpoint address{asio::ip::address_v4::loopback(), port};
  co_await socket.async_connect(address, asio::use_awaitable);
  std::string answer;
  boost::system::error_code end;
  if (!text.empty()) co_await asio::async_write(socket, asio::buffer(text), asio::use_awaitable);
  socket.shutdown(tcp::socket::shutdown_send, end);
  co_await asio::async_read(socket, asio::dynamic_buffer(answer),
                            asio::redirect_error(asio::use_awaitable, end));
  co_return answer;
}

Task<> carries() {
  const auto executor = co_await asio::this_coro::executor;
  Echo inside{executor};
  const uint16_t port = free_port(executor);
  PublishedPort published{executor, port, [&inside] { return inside.connect(); }};
  EXPECT_EQ(co_await exchange(port, "hello"), "hello");
  std::string large(8u << 20, 'x');
  for (size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i % 26);
  const std::string back = co_await exchange(port, large);
  EXPECT_TRUE(back == large) << back.size() << " bytes came back";
  co_await published.stop();
  co_await inside.tasks.stop();
}
TEST(PublishedPort, CarriesBytesBothWaysAndPassesOnTheEndOfEach) {
  run(carries());
}

Task<Fd> refuse() {
  fail(Code::unavailable, "nobody is there");
  co_return Fd{};
}

Task<> leads_nowhere() {
  const auto executor = co_await asio::this_coro::executor;
  const uint16_t port = free_port(executor);
  PublishedPort published{executor, port, refuse};
  EXPECT_EQ(co_await exchange(port, ""), "");
  co_await published.stop();
}
TEST(PublishedPort, ClosesAConnectionThatLeadsNowhere) {
  run(leads_nowhere());
}

Task<> taken() {
  const auto executor = co_await asio::this_coro::executor;
  const tcp::acceptor other{executor, {asio::ip::address_v4::loopback(), 0}};
  const uint16_t port = other.local_endpoint().port();
  std::string refusal;
  try {
    const PublishedPort published{executor, port, refuse};
  } catch (const Error& e) {
    refusal = e.what();
  }
  EXPECT_THAT(refusal, testing::HasSubstr("is taken by another program"));
}
TEST(PublishedPort, RefusesAPortThatIsTaken) {
  run(taken());
}

Task<> privileged() {
  const auto executor = co_await asio::this_coro::executor;
  std::string refusal;
  try {
    const PublishedPort published{executor, 80, refuse};
  } catch (const Error& e) {
    refusal = e.what();
  }
  EXPECT_THAT(refusal, testing::HasSubstr("port 80 is privileged"));
}
TEST(PublishedPort, RefusesAPrivilegedPort) {
  run(privileged());
}

Task<> frees() {
  const auto executor = co_await asio::this_coro::executor;
  const uint16_t port = free_port(executor);
  for (int round = 0; round < 2; ++round) {
    Echo inside{executor};
    PublishedPort published{executor, port, [&inside] { return inside.connect(); }};
    tcp::socket idle{executor};
    const tcp::endpoint address{asio::ip::address_v4::loopback(), port};
    co_await idle.async_connect(address, asio::use_awaitable);
    EXPECT_EQ(co_await exchange(port, "x"), "x");  // the idle one was accepted before
    co_await published.stop();
    std::string rest;
    boost::system::error_code end;
    co_await asio::async_read(idle, asio::dynamic_buffer(rest),
                              asio::redirect_error(asio::use_awaitable, end));
    EXPECT_TRUE(end) << "stop() closes what is open";
    co_await inside.tasks.stop();
  }
}
TEST(PublishedPort, ClosesEverythingWhenItStops) {
  run(frees());
}

}  // namespace
}  // namespace belljar::network
