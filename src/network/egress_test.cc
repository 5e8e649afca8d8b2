#include "network/egress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/udp.hpp>

#include "base/fake_clock.h"
#include "base/testing.h"
#include "network/gate_testing.h"

// That bytes are carried takes a sandbox: tests/network has that. Here is what happens before.
namespace belljar::network {
namespace {

using asio::ip::tcp;
using asio::ip::udp;
using testing::ElementsAre;

constexpr size_t kPlenty = 10000;
constexpr milliseconds kPatience = std::chrono::hours{1};  // never passes in a test

// A way out with a policy, a server on the loopback interface that accepts connections, and a name
// server.
struct Bench {
  Bench(const asio::any_io_executor& executor, const std::string& policy,
        size_t descriptors = kPlenty)
      : gate{executor},
        server{executor, tcp::endpoint{asio::ip::address_v4::loopback(), 0}},
        names{executor, udp::endpoint{asio::ip::address_v4::loopback(), 0}},
        resolver{NameServerList{names.local_endpoint()}, kPatience},
        budget{descriptors},
        egress{executor, gate.take(), Policy::parse(policy), {resolver, budget, clock, nullptr}} {}

  // As a program does that connects from `port`.
  void connect(unsigned port, const Endpoint& to) { gate.send(first_packet(program(port), to)); }
  void ask(unsigned port, const std::string& query) {
    gate.send(make_datagram(program(port), endpoint("10.0.2.3", 53), query));
  }
  static Endpoint program(unsigned port) { return endpoint("10.0.2.15", port); }
  // Where programs with the policy "host" find the server: the host's own 127.0.0.1.
  Endpoint at_server() const { return endpoint("10.0.2.2", server.local_endpoint().port()); }

  FakeGate gate;
  tcp::acceptor server;
  udp::socket names;
  Resolver resolver;
  Budget budget;
  FakeClock clock;
  Egress egress;
};

// "93.184.216.34:80 blocked 1": host, port, verdict and attempts.
std::vector<std::string> seen(const Egress& egress) {
  std::vector<std::string> lines;
  for (const Traffic& entry : egress.traffic()) {
    const char* verdicts[] = {"allowed", "blocked", "failed"};
    lines.push_back(fmt::format("{}:{} {} {}", entry.host, entry.port,
                                verdicts[static_cast<int>(entry.verdict)], entry.attempts));
  }
  return lines;
}

// Which port of the program the packet is for; 0 if it is not the refusal of a connection.
uint16_t refused_port(std::string_view packet) {
  if (!is_refusal(packet)) return 0;
  return static_cast<uint16_t>(static_cast<uint8_t>(packet[22]) << 8 |
                               static_cast<uint8_t>(packet[23]));
}

Task<> refuses() {
  Bench bench{co_await asio::this_coro::executor, "allow:good.test,93.184.216.34:443"};
  unsigned port = 5000;
  for (const Endpoint& to : {endpoint("10.1.2.3", 80), endpoint("93.184.216.34", 80),
                             endpoint("127.0.0.2", 443), bench.at_server()}) {
    bench.connect(++port, to);
    const std::string packet = co_await bench.gate.next();
    EXPECT_EQ(refused_port(packet), port) << to.address;
  }
  bench.connect(5001, endpoint("10.1.2.3", 80));
  const std::string again = co_await bench.gate.next();
  EXPECT_EQ(refused_port(again), 5001);
  co_await bench.egress.stop();
  EXPECT_THAT(
      seen(bench.egress),
      ElementsAre("10.1.2.3:80 blocked 2", "93.184.216.34:80 blocked 1", "127.0.0.2:443 blocked 1",
                  fmt::format("10.0.2.2:{} blocked 1", bench.at_server().port)));
  EXPECT_EQ(bench.budget.used(), 0u);
}

TEST(Egress, ResetsWhatThePolicyDoesNotAllow) {
  run(refuses());
}

Task<> passes_a_refusal_on() {
  Bench bench{co_await asio::this_coro::executor, "host"};
  const Endpoint nobody = bench.at_server();
  bench.server.close();
  bench.connect(5000, nobody);
  const std::string packet = co_await bench.gate.next();
  EXPECT_EQ(refused_port(packet), 5000);
  co_await bench.egress.stop();
  EXPECT_THAT(seen(bench.egress), ElementsAre(fmt::format("10.0.2.2:{} failed 1", nobody.port)));
  EXPECT_EQ(bench.egress.traffic().at(0).over_own_limit, 0u);
}

TEST(Egress, ResetsWhatIsRefusedOutside) {
  run(passes_a_refusal_on());
}

Task<> dials_first() {
  Bench bench{co_await asio::this_coro::executor, "host"};
  bench.connect(5000, bench.at_server());
  bench.connect(5000, bench.at_server());  // the kernel sends it again when nobody answers
  const tcp::socket accepted = co_await bench.server.async_accept(asio::use_awaitable);
  const std::string bytes = co_await bench.gate.next();
  const auto packet = parse_packet(bytes);
  EXPECT_TRUE(packet && packet->kind == Packet::Kind::connection);
  if (packet) {
    EXPECT_EQ(packet->from, Bench::program(5000));
    EXPECT_EQ(packet->to, bench.at_server());
  }
  EXPECT_EQ(bench.budget.used(), 6u);
  co_await bench.egress.stop();
  EXPECT_EQ(bench.budget.used(), 0u);
  EXPECT_THAT(seen(bench.egress),
              ElementsAre(fmt::format("10.0.2.2:{} allowed 1", bench.at_server().port)));
}

TEST(Egress, LetsTheFirstPacketInWhenTheServerOutsideHasAccepted) {
  run(dials_first());
}

// The ports whose connections were refused, after one from each of `count`.
Task<std::vector<uint16_t>> refused_of(Bench& bench, size_t count) {
  for (size_t i = 0; i < count; ++i) bench.connect(5000 + i, bench.at_server());
  std::vector<uint16_t> refused;
  for (size_t i = 0; i < count; ++i) {
    const std::string packet = co_await bench.gate.next();
    if (const uint16_t port = refused_port(packet); port != 0) refused.push_back(port);
  }
  co_return refused;
}

Task<> has_a_limit() {
  Bench bench{co_await asio::this_coro::executor, "host"};
  const auto refused = co_await refused_of(bench, kMostAtATime + 2);
  EXPECT_THAT(refused, ElementsAre(5000 + kMostAtATime, 5001 + kMostAtATime));
  bench.connect(4000, endpoint("10.0.2.3", 53));
  const std::string resolver = co_await bench.gate.next();
  EXPECT_EQ(refused_port(resolver), 4000);
  co_await bench.egress.stop();
  uint64_t over = 0;
  for (const Traffic& entry : bench.egress.traffic()) {
    over += entry.over_own_limit;
    EXPECT_EQ(entry.over_shared_limit, 0u);
    EXPECT_NE(entry.verdict, Traffic::Verdict::blocked);
  }
  EXPECT_EQ(over, 3u);
}

TEST(Egress, OneSandboxHasSoManyConnectionsAtATime) {
  run(has_a_limit());
}

Task<> shares_the_budget() {
  Bench bench{co_await asio::this_coro::executor, "host", 20};
  const auto refused = co_await refused_of(bench, 4);
  EXPECT_THAT(refused, ElementsAre(5003));
  EXPECT_EQ(bench.budget.used(), 18u);
  co_await bench.egress.stop();
  EXPECT_EQ(bench.budget.used(), 0u);
  uint64_t over = 0;
  for (const Traffic& entry : bench.egress.traffic()) over += entry.over_shared_limit;
  EXPECT_EQ(over, 1u);
}

TEST(Egress, AllSandboxesTogetherHaveABudget) {
  run(shares_the_budget());
}

// ---- DNS ---------------------------------------------------------------------------------------

// The answer of the next datagram that is put into the sandbox, without what is around it.
Task<std::string> next_answer(Bench& bench, unsigned port) {
  const std::string bytes = co_await bench.gate.next();
  const auto packet = parse_packet(bytes);
  EXPECT_TRUE(packet && packet->kind == Packet::Kind::datagram);
  if (!packet) co_return "";
  EXPECT_EQ(packet->from, endpoint("10.0.2.3", 53));
  EXPECT_EQ(packet->to, Bench::program(port));
  co_return std::string{packet->payload};
}

int code_of(const std::string& answer) {
  return answer.size() < 12 ? -1 : answer[3] & 0x0f;
}

// Receives the next query as the name server, and answers it with an address.
Task<std::string> answer_query(Bench& bench, const std::string& address, uint32_t ttl) {
  std::string buffer(2000, '\0');
  udp::endpoint client;
  const size_t size =
      co_await bench.names.async_receive_from(asio::buffer(buffer), client, asio::use_awaitable);
  const std::string query = buffer.substr(0, size);
  const auto parsed = parse_query(query);
  if (!parsed) co_return "";
  const std::string message = dns::header(parsed->id, 0x8180, 1, 1) + dns::question(parsed->name) +
                              dns::record(dns::pointer(dns::kQuestion), 1, ttl, address);
  co_await bench.names.async_send_to(asio::buffer(message), client, asio::use_awaitable);
  co_return parsed->name;
}

const std::string kPrivate{"\x0a\x01\x02\x03", 4};  // 10.1.2.3
constexpr std::chrono::seconds kGrace{30};          // of an answer that no longer holds

Task<> denies_names() {
  Bench bench{co_await asio::this_coro::executor, "allow:good.test"};
  for (const char* name : {"other.test", "sub.good.test", "good.test.evil"}) {
    bench.ask(5000, dns::query(name));
    const std::string answer = co_await next_answer(bench, 5000);
    EXPECT_EQ(code_of(answer), 3) << name;
  }
  bench.ask(5001, dns::query("good.test"));
  // The first query that the name server sees is the one that was allowed.
  const std::string asked = co_await answer_query(bench, kPrivate, 60);
  EXPECT_EQ(asked, "good.test");
  const std::string answer = co_await next_answer(bench, 5001);
  EXPECT_EQ(code_of(answer), 0);
  EXPECT_EQ(bench.names.available(), 0u);
  co_await bench.egress.stop();
  EXPECT_THAT(seen(bench.egress), ElementsAre("other.test:0 blocked 1", "sub.good.test:0 blocked 1",
                                              "good.test.evil:0 blocked 1"));
}

TEST(Egress, NamesThatAreNotAllowedDoNotExistAndNobodyIsAsked) {
  run(denies_names());
}

Task<> knows_names() {
  Bench bench{co_await asio::this_coro::executor, "allow:good.test"};
  bench.ask(5000, dns::query("good.test"));
  co_await answer_query(bench, kPrivate, 60);
  co_await next_answer(bench, 5000);
  bench.connect(5001, endpoint("10.1.2.3", 80));
  co_await bench.gate.next();
  bench.clock.advance(std::chrono::seconds{60} + kGrace);
  bench.connect(5002, endpoint("10.1.2.3", 80));
  co_await bench.gate.next();
  bench.clock.advance(std::chrono::seconds{1});
  bench.connect(5003, endpoint("10.1.2.3", 80));
  co_await bench.gate.next();
  co_await bench.egress.stop();
  EXPECT_THAT(seen(bench.egress), ElementsAre("good.test:80 blocked 2", "10.1.2.3:80 blocked 1"));
}

TEST(Egress, AnAddressHasItsNameAsLongAsTheAnswerHoldsAndStaysPrivate) {
  run(knows_names());
}

Task<> limits_queries(size_t descriptors, size_t most) {
  Bench bench{co_await asio::this_coro::executor, "internet", descriptors};
  for (unsigned i = 0; i < most + 2; ++i) bench.ask(5000 + i, dns::query("good.test"));
  // What is refused after them says that they have been looked at.
  bench.connect(4000, endpoint("10.1.2.3", 80));
  co_await bench.gate.next();
  EXPECT_EQ(bench.budget.used(), most);
  co_await answer_query(bench, kPrivate, 60);
  co_await bench.gate.next();
  EXPECT_EQ(bench.budget.used(), most - 1);
  co_await bench.egress.stop();
  EXPECT_EQ(bench.budget.used(), 0u);
}

TEST(Egress, OneSandboxHasSoManyQueriesAtATime) {
  run(limits_queries(kPlenty, kMostAtATime));
}

TEST(Egress, QueriesCountInTheBudgetOfAllSandboxes) {
  run(limits_queries(3, 3));
}

// ---- UDP ---------------------------------------------------------------------------------------

Task<> loses_datagrams() {
  Bench bench{co_await asio::this_coro::executor, "host", 1};
  udp::socket server{bench.names.get_executor(),
                     udp::endpoint{asio::ip::address_v4::loopback(), 0}};
  const Endpoint to = endpoint("10.0.2.2", server.local_endpoint().port());
  for (const unsigned port : {5000, 5001}) {
    bench.gate.send(make_datagram(Bench::program(port), to, std::to_string(port)));
  }
  bench.gate.send(make_datagram(Bench::program(5000), to, "again"));
  std::string buffer(100, '\0');
  for (const char* expected : {"5000", "again"}) {
    const size_t size = co_await server.async_receive(asio::buffer(buffer), asio::use_awaitable);
    EXPECT_EQ(buffer.substr(0, size), expected);
  }
  co_await bench.egress.stop();
  EXPECT_THAT(seen(bench.egress), ElementsAre(fmt::format("10.0.2.2:{} allowed 1", to.port),
                                              fmt::format("10.0.2.2:{} failed 1", to.port)));
  EXPECT_EQ(bench.egress.traffic().at(1).over_shared_limit, 1u);
}

TEST(Egress, ADatagramBeyondTheBudgetIsLostAndReported) {
  run(loses_datagrams());
}

}  // namespace
}  // namespace belljar::network
