#include "network/datagrams.h"

#include <gtest/gtest.h>

#include <boost/asio/ip/udp.hpp>

#include "base/testing.h"
#include "network/gate_testing.h"

namespace belljar::network {
namespace {

using asio::ip::udp;

// What programs send goes to a socket on the loopback interface.
struct Bench {
  Bench(const asio::any_io_executor& executor, size_t descriptors)
      : gate{executor},
        server{executor, udp::endpoint{asio::ip::address_v4::loopback(), 0}},
        budget{descriptors},
        datagrams{executor, gate.injector(), budget} {}

  // True if the flow of that port of the sandbox could be opened.
  bool open(unsigned port, std::string_view payload = "hello") {
    return datagrams.open(packet(port, payload), server_end(), std::make_shared<Traffic>());
  }
  static Packet packet(unsigned port, std::string_view payload) {
    return {Packet::Kind::datagram, endpoint("10.0.2.15", port), endpoint("93.184.216.34", 7),
            payload};
  }
  Endpoint server_end() const {
    return {server.local_endpoint().address(), server.local_endpoint().port()};
  }

  FakeGate gate;
  udp::socket server;
  Budget budget;
  Datagrams datagrams;
};

Task<> answers_come_back() {
  Bench bench{co_await asio::this_coro::executor, 10};
  EXPECT_TRUE(bench.open(5000, "question"));
  std::string buffer(100, '\0');
  udp::endpoint from;
  const size_t size =
      co_await bench.server.async_receive_from(asio::buffer(buffer), from, asio::use_awaitable);
  EXPECT_EQ(buffer.substr(0, size), "question");
  co_await bench.server.async_send_to(asio::buffer("answer", 6), from, asio::use_awaitable);
  const std::string bytes = co_await bench.gate.next();
  const auto packet = parse_packet(bytes);
  EXPECT_TRUE(packet && packet->payload == "answer");
  if (packet) {
    EXPECT_EQ(packet->from, endpoint("93.184.216.34", 7));
    EXPECT_EQ(packet->to, endpoint("10.0.2.15", 5000));
  }
  co_await bench.datagrams.stop();
}

TEST(Datagrams, AnAnswerComesFromWhereTheProgramSentItsQuestion) {
  run(answers_come_back());
}

Task<> shares_the_budget() {
  Bench bench{co_await asio::this_coro::executor, 10};
  const Budget::Share of_others{bench.budget, 8};
  EXPECT_TRUE(bench.open(5000));
  EXPECT_TRUE(bench.open(5001));
  EXPECT_FALSE(bench.open(5002));
  EXPECT_TRUE(bench.datagrams.send(Bench::packet(5000, "again")));
  EXPECT_FALSE(bench.datagrams.send(Bench::packet(5002, "again")));
  EXPECT_EQ(bench.budget.used(), 10u);
  co_await bench.datagrams.stop();
  EXPECT_EQ(bench.budget.used(), 8u);
}

TEST(Datagrams, HaveNoMoreSocketsThanTheBudgetOfAllSandboxesHas) {
  run(shares_the_budget());
}

Task<> one_sandbox_has_a_limit() {
  Bench bench{co_await asio::this_coro::executor, 1000};
  for (unsigned i = 0; i < kMostAtATime; ++i) EXPECT_TRUE(bench.open(5000 + i));
  EXPECT_FALSE(bench.open(4999));
  EXPECT_EQ(bench.budget.used(), kMostAtATime);
  co_await bench.datagrams.stop();
}

TEST(Datagrams, OfOneSandboxHaveALimitOfTheirOwn) {
  run(one_sandbox_has_a_limit());
}

Task<> nothing_is_kept_of_a_failure() {
  Bench bench{co_await asio::this_coro::executor, 10};
  // The kernel connects no socket to a broadcast address that has not asked for the right to.
  const bool opened = bench.datagrams.open(Bench::packet(5000, ""), endpoint("255.255.255.255", 7),
                                           std::make_shared<Traffic>());
  EXPECT_FALSE(opened);
  EXPECT_EQ(bench.budget.used(), 0u);
  co_await bench.datagrams.stop();
}

TEST(Datagrams, ASocketThatCannotBeConnectedTakesNothingOfTheBudget) {
  run(nothing_is_kept_of_a_failure());
}

}  // namespace
}  // namespace belljar::network
