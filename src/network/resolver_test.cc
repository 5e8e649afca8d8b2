#include "network/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <set>

#include "base/task_group.h"
#include "base/testing.h"
#include "network/dns_testing.h"

namespace belljar::network {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using asio::ip::udp;
using boost::asio::ip::make_address;
using testing::IsEmpty;

constexpr milliseconds kLong = 1h;     // never passes in a test
constexpr milliseconds kShort = 20ms;  // for servers that say nothing
constexpr uint16_t kClientId = 0x4711;

const std::string kAddress{"\x5d\xb8\xd8\x22", 4};

// Answers to one query: any number of datagrams, or one message by TCP.
using Handler = std::function<std::vector<std::string>(const std::string& query)>;

std::vector<std::string> say_nothing(const std::string&) {
  return {};
}

// A name server on the loopback interface, with the same port for UDP and TCP.
class TestNameServer {
 public:
  TestNameServer(const asio::any_io_executor& executor, Handler by_udp,
                 Handler by_tcp = say_nothing)
      : by_udp_{std::move(by_udp)},
        by_tcp_{std::move(by_tcp)},
        datagrams_{executor},
        listener_{executor},
        tasks_{executor},
        asked_{executor} {
    while (!listen()) continue;
    tasks_.spawn("answer datagrams", serve_udp());
    tasks_.spawn("answer connections", serve_tcp());
  }

  udp::endpoint endpoint() const { return datagrams_.local_endpoint(); }
  const std::vector<std::string>& queries() const { return queries_; }
  Task<> stop() { return tasks_.stop(); }

  // Returns once so many queries have arrived by UDP.
  Task<> asked(size_t times) {
    expected_ = times;
    if (queries_.size() >= expected_) asked_.set();
    return asked_.wait();
  }

 private:
  // False if the port that was free for UDP is taken for TCP.
  bool listen() {
    const auto loopback = asio::ip::address_v4::loopback();
    datagrams_ = udp::socket{datagrams_.get_executor(), udp::endpoint{loopback, 0}};
    listener_ = tcp::acceptor{listener_.get_executor(), tcp::v4()};
    boost::system::error_code error;
    listener_.bind({loopback, datagrams_.local_endpoint().port()}, error);
    if (!error) listener_.listen();
    return !error;
  }

  Task<> serve_udp() {
    for (;;) {
      std::string buffer(2000, '\0');
      udp::endpoint client;
      const size_t size =
          co_await datagrams_.async_receive_from(asio::buffer(buffer), client, asio::use_awaitable);
      queries_.push_back(buffer.substr(0, size));
      if (queries_.size() >= expected_) asked_.set();
      for (const std::string& answer : by_udp_(queries_.back()))
        co_await datagrams_.async_send_to(asio::buffer(answer), client, asio::use_awaitable);
    }
  }

  Task<> serve_tcp() {
    for (;;) {
      tcp::socket client = co_await listener_.async_accept(asio::use_awaitable);
      unsigned char size[2];
      co_await asio::async_read(client, asio::buffer(size), asio::use_awaitable);
      std::string query(static_cast<size_t>(size[0] << 8 | size[1]), '\0');
      co_await asio::async_read(client, asio::buffer(query), asio::use_awaitable);
      for (const std::string& answer : by_tcp_(query)) {
        const std::string whole = dns::u16(static_cast<unsigned>(answer.size())) + answer;
        co_await asio::async_write(client, asio::buffer(whole), asio::use_awaitable);
      }
    }
  }

  Handler by_udp_;
  Handler by_tcp_;
  udp::socket datagrams_;
  tcp::acceptor listener_;
  TaskGroup tasks_;
  std::vector<std::string> queries_;
  size_t expected_ = SIZE_MAX;
  Event asked_;
};

std::string answer_to(const std::string& query, const std::vector<std::string>& records,
                      unsigned flags = 0x8180) {
  const size_t end = parse_query(query)->question_end;
  std::string message = query.substr(0, 2) + dns::u16(flags) + dns::u16(1) +
                        dns::u16(static_cast<unsigned>(records.size())) + dns::u32(0) +
                        query.substr(12, end - 12);
  for (const std::string& record : records) message += record;
  return message;
}

std::string address_answer(const std::string& query) {
  return answer_to(query, {dns::record(dns::pointer(12), DnsQuery::a, 60, kAddress)});
}

std::vector<std::string> answer_with_address(const std::string& query) {
  return {address_answer(query)};
}

std::vector<std::string> answer_with_failure(const std::string& query) {
  return {answer_to(query, {}, 0x8182)};
}

std::vector<std::string> answer_with_truncation(const std::string& query) {
  return {answer_to(query, {}, 0x8380)};
}

std::vector<std::string> answer_at_length(const std::string& query) {
  const std::string text(60'000, 'x');
  return {answer_to(query, {dns::record(dns::pointer(12), DnsQuery::a, 60, kAddress),
                            dns::record(dns::pointer(12), 16, 60, text)})};
}

enum class Way { udp, tcp };

// What a client gets: the parsed answer to its query, whose id it has.
Task<DnsAnswer> ask(Resolver& resolver, std::string message, Way way = Way::udp) {
  const auto query = parse_query(message);
  const std::string answer = co_await resolver.answer(message, *query, way == Way::tcp);
  const auto parsed = parse_answer(answer, *query);
  EXPECT_TRUE(parsed) << testing::PrintToString(answer);
  co_return parsed.value_or(DnsAnswer{});
}

Task<DnsAnswer> ask_example(Resolver& resolver, Way way = Way::udp) {
  return ask(resolver, dns::query("Example.com", DnsQuery::a, kClientId), way);
}

MATCHER(HasTheAddress, "") {
  return arg.code == no_error && !arg.truncated && arg.addresses.size() == 1 &&
         arg.addresses[0] == std::pair(make_address("93.184.216.34"), uint32_t{60});
}

// A port of UDP on which nobody answers, and which nobody else can get: its socket is connected to
// itself, so the kernel refuses what others send to it.
class Nobody {
 public:
  explicit Nobody(const asio::any_io_executor& executor)
      : socket_{executor, udp::endpoint{asio::ip::address_v4::loopback(), 0}} {
    socket_.connect(socket_.local_endpoint());
  }
  udp::endpoint endpoint() const { return socket_.local_endpoint(); }

 private:
  udp::socket socket_;
};

Task<> passes_on() {
  TestNameServer server{co_await asio::this_coro::executor, answer_with_address};
  const NameServerList servers{server.endpoint()};
  Resolver resolver{servers, kLong};
  EXPECT_THAT(co_await ask_example(resolver), HasTheAddress());
  EXPECT_THAT(co_await ask_example(resolver, Way::tcp), HasTheAddress());
  co_await server.stop();
}
TEST(Resolver, PassesOnWhatAServerAnswers) {
  run(passes_on());
}

Task<> asks_only_the_question() {
  TestNameServer server{co_await asio::this_coro::executor, answer_with_address};
  const NameServerList servers{server.endpoint()};
  Resolver resolver{servers, kLong};
  const std::string root(1, '\0');
  const std::string message =
      dns::header(kClientId, 0x0120, 1, 0, 0, 1) + dns::question("Example.com") +
      dns::record(root, DnsQuery::opt, 0, std::string{"\0\12\0\6secret", 10}, 1232);
  EXPECT_THAT(co_await ask(resolver, message), HasTheAddress());
  std::string sent = server.queries().at(0);
  set_id(sent, 0);
  EXPECT_EQ(sent, dns::header(0, 0x0100, 1, 0, 0, 1) + dns::question("Example.com") +
                      dns::record(root, DnsQuery::opt, 0, "", 1232));
  co_await server.stop();
}
TEST(Resolver, AsksNothingButTheQuestion) {
  run(asks_only_the_question());
}

std::vector<std::string> answer_after_forgeries(const std::string& query) {
  const std::string good = address_answer(query);
  const std::string evil = dns::record(dns::pointer(12), DnsQuery::a, 60, "\6\6\6\6");
  std::string other_id = answer_to(query, {evil});
  other_id[0] = static_cast<char>(other_id[0] ^ 1);
  std::string other_name = answer_to(query, {evil});
  other_name[13] = 'x';
  return {"", "noise", query, other_id, other_name, good.substr(0, good.size() - 1), good};
}

Task<> ignores_forgeries() {
  TestNameServer server{co_await asio::this_coro::executor, answer_after_forgeries};
  const NameServerList servers{server.endpoint()};
  Resolver resolver{servers, kLong};
  EXPECT_THAT(co_await ask_example(resolver), HasTheAddress());
  EXPECT_EQ(server.queries().size(), 1u);
  co_await server.stop();
}
TEST(Resolver, IgnoresWhatIsNoAnswerToItsQuery) {
  run(ignores_forgeries());
}

Task<> has_other_ids() {
  TestNameServer server{co_await asio::this_coro::executor, answer_with_address};
  const NameServerList servers{server.endpoint()};
  Resolver resolver{servers, kLong};
  std::set<std::string> ids;
  for (int i = 0; i < 8; ++i) co_await ask_example(resolver);
  for (const std::string& query : server.queries()) ids.insert(query.substr(0, 2));
  EXPECT_GT(ids.size(), 1u);
  co_await server.stop();
}
TEST(Resolver, ChoosesIdsAtRandom) {
  run(has_other_ids());
}

Task<> asks_the_next() {
  const auto executor = co_await asio::this_coro::executor;
  TestNameServer silent{executor, say_nothing};
  TestNameServer failing{executor, answer_with_failure};
  TestNameServer good{executor, answer_with_address};
  const Nobody nobody{executor};
  const NameServerList closed_first{nobody.endpoint(), good.endpoint()};
  Resolver after_closed{closed_first, kLong};
  EXPECT_THAT(co_await ask_example(after_closed), HasTheAddress());
  const NameServerList failing_first{failing.endpoint(), good.endpoint()};
  Resolver after_failing{failing_first, kLong};
  EXPECT_THAT(co_await ask_example(after_failing), HasTheAddress());
  const NameServerList silent_first{silent.endpoint(), good.endpoint()};
  Resolver after_silent{silent_first, 1s};  // long enough for the one that answers
  EXPECT_THAT(co_await ask_example(after_silent), HasTheAddress());
  EXPECT_EQ(failing.queries().size(), 1u);
  co_await silent.stop();
  co_await failing.stop();
  co_await good.stop();
}
TEST(Resolver, AsksTheNextServerWhenOneHasNoAnswer) {
  run(asks_the_next());
}

Task<> gives_up() {
  const auto executor = co_await asio::this_coro::executor;
  TestNameServer one{executor, say_nothing};
  TestNameServer other{executor, say_nothing};
  const NameServerList servers{one.endpoint(), other.endpoint()};
  Resolver resolver{servers, kShort};
  EXPECT_EQ((co_await ask_example(resolver)).code, server_failure);
  EXPECT_EQ((co_await ask_example(resolver, Way::tcp)).code, server_failure);
  co_await one.asked(4);
  co_await other.asked(4);
  EXPECT_EQ(one.queries().size(), 4u) << "two rounds for each query";
  co_await one.stop();
  co_await other.stop();
}
TEST(Resolver, GivesUpAfterTwoRounds) {
  run(gives_up());
}

Task<> passes_on_refusals() {
  const auto executor = co_await asio::this_coro::executor;
  TestNameServer failing{executor, answer_with_failure};
  const Nobody nobody{executor};
  const NameServerList servers{failing.endpoint(), nobody.endpoint()};
  Resolver resolver{servers, kLong};
  EXPECT_EQ((co_await ask_example(resolver)).code, server_failure);
  EXPECT_EQ(failing.queries().size(), 2u);
  const NameServerList closed_only{nobody.endpoint()};
  Resolver closed{closed_only, kLong};
  EXPECT_EQ((co_await ask_example(closed)).code, server_failure);
  co_await failing.stop();
}
TEST(Resolver, FailsWhenAllServersDo) {
  run(passes_on_refusals());
}

Task<> truncated() {
  TestNameServer server{co_await asio::this_coro::executor, answer_with_truncation,
                        answer_at_length};
  const NameServerList servers{server.endpoint()};
  Resolver resolver{servers, kLong};
  const DnsAnswer by_udp = co_await ask_example(resolver);
  EXPECT_TRUE(by_udp.truncated);
  EXPECT_THAT(by_udp.addresses, IsEmpty());
  EXPECT_THAT(co_await ask_example(resolver, Way::tcp), HasTheAddress());
  co_await server.stop();
}
TEST(Resolver, AsksByTcpForThoseWhoDid) {
  run(truncated());
}

std::vector<std::string> answer_with_700_bytes(const std::string& query) {
  return {answer_to(query, {dns::record(dns::pointer(12), DnsQuery::a, 60, kAddress),
                            dns::record(dns::pointer(12), 16, 60, std::string(650, 'x'))})};
}

Task<> too_long() {
  TestNameServer server{co_await asio::this_coro::executor, answer_with_700_bytes};
  const NameServerList servers{server.endpoint()};
  Resolver resolver{servers, kLong};
  EXPECT_TRUE((co_await ask_example(resolver)).truncated) << "512 bytes without EDNS";
  EXPECT_THAT(co_await ask_example(resolver, Way::tcp), HasTheAddress());
  const std::string with_edns = dns::header(kClientId, 0x0100, 1, 0, 0, 1) +
                                dns::question("example.com") +
                                dns::record(std::string(1, '\0'), DnsQuery::opt, 0, "", 1232);
  EXPECT_THAT(co_await ask(resolver, with_edns), HasTheAddress());
  co_await server.stop();
}
TEST(Resolver, CutsWhatAClientCannotTake) {
  run(too_long());
}

std::vector<std::string> answer_something_else(const std::string&) {
  return {address_answer(dns::query("evil.tld"))};
}

Task<> tcp_fails() {
  const auto executor = co_await asio::this_coro::executor;
  TestNameServer closing{executor, answer_with_truncation, say_nothing};
  TestNameServer lying{executor, answer_with_truncation, answer_something_else};
  const NameServerList servers{closing.endpoint(), lying.endpoint()};
  Resolver resolver{servers, kLong};
  EXPECT_EQ((co_await ask_example(resolver, Way::tcp)).code, server_failure);
  co_await closing.stop();
  co_await lying.stop();
}
TEST(Resolver, BelievesNoOtherAnswerByTcp) {
  run(tcp_fails());
}

Task<> refuses() {
  const auto executor = co_await asio::this_coro::executor;
  const Nobody nobody{executor};
  const NameServerList servers{nobody.endpoint()};
  Resolver resolver{servers, kLong};
  for (const unsigned type : {251u, 252u}) {
    const DnsAnswer answer = co_await ask(resolver, dns::query("example.com", type), Way::tcp);
    EXPECT_EQ(answer.code, refused);
  }
  const std::string chaos = dns::header(1, 0x0100, 1) + dns::question("version.bind", 16, 3);
  EXPECT_EQ((co_await ask(resolver, chaos)).code, refused);
}
TEST(Resolver, RefusesWhatIsForServersOnly) {
  run(refuses());
}

Task<> is_cancelled() {
  const auto executor = co_await asio::this_coro::executor;
  TestNameServer silent{executor, say_nothing};
  const NameServerList servers{silent.endpoint()};
  Resolver resolver{servers, kLong};
  const auto answer = co_await with_timeout(kShort, ask_example(resolver));
  EXPECT_FALSE(answer);
  co_await silent.stop();
}
TEST(Resolver, CanBeCancelled) {
  run(is_cancelled());
}

}  // namespace
}  // namespace belljar::network
