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
using testing::HasSubstr;
using Local = asio::local::stream_protocol::socket;

const asio::ip::address kLoopback = asio::ip::address_v4::loopback();
const asio::ip::address kAllOfFour = asio::ip::address_v4::any();

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

Task<std::string> exchange(uint16_t port, std::string text, asio::ip::address address = kLoopback) {
  tcp::socket socket{co_await asio::this_coro::executor};
  const tcp::endpoint endpoint{address, port};
  co_await socket.async_connect(endpoint, asio::use_awaitable);
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
  TakenPort taken = take_port(kLoopback, 0);
  const uint16_t port = taken.number;
  PublishedPort published{executor, std::move(taken), [&inside] { return inside.connect(); }};
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
  TakenPort taken = take_port(kLoopback, 0);
  const uint16_t port = taken.number;
  PublishedPort published{executor, std::move(taken), refuse};
  EXPECT_EQ(co_await exchange(port, ""), "");
  co_await published.stop();
}
TEST(PublishedPort, ClosesAConnectionThatLeadsNowhere) {
  run(leads_nowhere());
}

std::string refusal_of(const asio::ip::address& address, uint16_t port) {
  try {
    take_port(address, port);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(TakePort, RefusesAPortThatIsTaken) {
  const TakenPort other = take_port(kLoopback, 0);
  EXPECT_THAT(refusal_of(kLoopback, other.number), HasSubstr("is taken by another program"));
  EXPECT_THAT(refusal_of(kAllOfFour, other.number), HasSubstr("is taken by another program"));
}

TEST(TakePort, RefusesAPrivilegedPort) {
  EXPECT_THAT(refusal_of(kLoopback, 80), HasSubstr("port 80 is privileged"));
}

TEST(TakePort, RefusesAnAddressThatTheHostDoesNotHave) {
  EXPECT_THAT(refusal_of(asio::ip::make_address("192.0.2.1"), 0), HasSubstr("publish-address"));
}

TEST(TakePort, ChoosesPortsThatNobodyElseHas) {
  const TakenPort one = take_port(kLoopback, 0);
  const TakenPort two = take_port(kLoopback, 0);
  EXPECT_GE(one.number, 1024);
  EXPECT_NE(one.number, two.number);
}

TEST(TakePort, IsReachedByTheUrlOfItsAddress) {
  const std::pair<const char*, const char*> cases[] = {
      {"127.0.0.1", "http://127.0.0.1:8080/"},
      {"0.0.0.0", "http://127.0.0.1:8080/"},
      {"192.0.2.7", "http://192.0.2.7:8080/"},
      {"::1", "http://[::1]:8080/"},
      {"::", "http://[::1]:8080/"},
      {"::ffff:127.0.0.1", "http://127.0.0.1:8080/"},
  };
  for (const auto& [address, url] : cases) {
    EXPECT_EQ(url_of(asio::ip::make_address(address), 8080), url);
  }
}

Task<> on_all_addresses() {
  const auto executor = co_await asio::this_coro::executor;
  Echo inside{executor};
  const asio::ip::address six = asio::ip::address_v6::loopback();
  TakenPort taken = take_port(asio::ip::address_v6::any(), 0);
  const uint16_t port = taken.number;
  PublishedPort published{executor, std::move(taken), [&inside] { return inside.connect(); }};
  EXPECT_EQ(co_await exchange(port, "four", kLoopback), "four");
  EXPECT_EQ(co_await exchange(port, "six", six), "six");
  co_await published.stop();
  co_await inside.tasks.stop();
}
TEST(PublishedPort, IsReachedByBothKindsOfAddressesIfItIsPublishedOnAll) {
  run(on_all_addresses());
}

// Waits until the other side has closed the connection.
Task<> closed(tcp::socket& socket) {
  std::string rest;
  boost::system::error_code end;
  co_await asio::async_read(socket, asio::dynamic_buffer(rest),
                            asio::redirect_error(asio::use_awaitable, end));
  EXPECT_TRUE(end);
}

Task<> frees() {
  const auto executor = co_await asio::this_coro::executor;
  uint16_t port = 0;
  for (int round = 0; round < 2; ++round) {
    Echo inside{executor};
    TakenPort taken = take_port(kLoopback, port);  // the same one in the second round
    port = taken.number;
    PublishedPort published{executor, std::move(taken), [&inside] { return inside.connect(); }};
    tcp::socket idle{executor};
    const tcp::endpoint address{kLoopback, port};
    co_await idle.async_connect(address, asio::use_awaitable);
    EXPECT_EQ(co_await exchange(port, "x"), "x");  // the idle one was accepted before
    co_await published.stop();
    co_await closed(idle);
    co_await inside.tasks.stop();
  }
}
TEST(PublishedPort, ClosesEverythingWhenItStops) {
  run(frees());
}

Task<> closes_on_the_call() {
  const auto executor = co_await asio::this_coro::executor;
  TakenPort taken = take_port(kLoopback, 0);
  const uint16_t port = taken.number;
  PublishedPort published{executor, std::move(taken), refuse};
  Task<> end = published.stop();
  tcp::socket late{executor};
  boost::system::error_code error;
  const tcp::endpoint address{kLoopback, port};
  late.connect(address, error);
  EXPECT_EQ(error, asio::error::connection_refused);
  co_await std::move(end);
}
TEST(PublishedPort, LetsNobodyInFromTheMomentItIsToldToStop) {
  run(closes_on_the_call());
}

// A sandbox that takes its time: no connection is made before `open`.
struct Slow {
  explicit Slow(const asio::any_io_executor& executor) : open{executor} {}

  Task<Fd> connect() {
    ++waiting;
    co_await open.wait();
    fail(Code::unavailable, "nobody is there");
  }

  Event open;
  int waiting = 0;
};

Task<> too_many() {
  const auto executor = co_await asio::this_coro::executor;
  Slow inside{executor};
  TakenPort taken = take_port(kLoopback, 0);
  const tcp::endpoint address{kLoopback, taken.number};
  PublishedPort published{executor, std::move(taken), [&inside] { return inside.connect(); }};
  std::vector<tcp::socket> served;
  for (int i = 0; i < 256; ++i) {
    served.emplace_back(executor);
    co_await served.back().async_connect(address, asio::use_awaitable);
  }
  tcp::socket last{executor};
  co_await last.async_connect(address, asio::use_awaitable);
  co_await closed(last);
  EXPECT_EQ(inside.waiting, 256);

  inside.open.set();
  for (tcp::socket& socket : served) co_await closed(socket);
  tcp::socket next{executor};
  co_await next.async_connect(address, asio::use_awaitable);
  co_await closed(next);
  EXPECT_EQ(inside.waiting, 257) << "there is room again";
  co_await published.stop();
}
TEST(PublishedPort, RefusesOneConnectionTooManyAtOnce) {
  run(too_many());
}

}  // namespace
}  // namespace belljar::network
