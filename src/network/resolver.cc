#include "network/resolver.h"

#include <sys/random.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "base/log.h"
#include "net/open_socket.h"

namespace belljar::network {

using asio::ip::tcp;
using asio::ip::udp;
using boost::system::system_error;

namespace {

constexpr std::chrono::seconds kLimit{2};
constexpr int kRounds = 2;
constexpr size_t kLargestDatagram = 4096;  // no query of ours announces more

struct Reply {
  std::string message;
  DnsAnswer parsed;
};

uint16_t random_id() {
  uint16_t id = 0;
  sys(::getrandom(&id, sizeof id, 0), "read random bytes");
  return id;
}

// Waits for as long as it takes: answers that do not match may be forged, so they do not count.
Task<Reply> ask_by_udp(udp::endpoint server, std::string query, DnsQuery asked) {
  udp::socket socket{co_await asio::this_coro::executor};
  net::open_socket(socket, server.protocol());
  // Connected, so that nobody else's datagrams arrive, and that a port nobody listens on is seen.
  socket.connect(server);
  co_await socket.async_send(asio::buffer(query), asio::use_awaitable);
  std::string buffer(kLargestDatagram, '\0');
  for (;;) {
    const size_t size = co_await socket.async_receive(asio::buffer(buffer), asio::use_awaitable);
    std::string message = buffer.substr(0, size);
    if (auto parsed = parse_answer(message, asked))
      co_return Reply{std::move(message), *std::move(parsed)};
  }
}

Task<Reply> ask_by_tcp(tcp::endpoint server, std::string query, DnsQuery asked) {
  tcp::socket socket{co_await asio::this_coro::executor};
  net::open_socket(socket, server.protocol());
  co_await socket.async_connect(server, asio::use_awaitable);
  const std::string size_of_query{static_cast<char>(query.size() >> 8),
                                  static_cast<char>(query.size() & 0xff)};
  query.insert(0, size_of_query);
  co_await asio::async_write(socket, asio::buffer(query), asio::use_awaitable);
  unsigned char size[2];
  co_await asio::async_read(socket, asio::buffer(size), asio::use_awaitable);
  std::string message(static_cast<size_t>(size[0] << 8 | size[1]), '\0');
  co_await asio::async_read(socket, asio::buffer(message), asio::use_awaitable);
  auto parsed = parse_answer(message, asked);
  if (!parsed) fail(Code::unavailable, "it answered something else by TCP");
  co_return Reply{std::move(message), *std::move(parsed)};
}

// Nothing if the server has no answer; `limit` is for each way of asking.
Task<std::optional<Reply>> ask(udp::endpoint server, std::string query, DnsQuery asked,
                               bool over_tcp, milliseconds limit) {
  try {
    auto reply = co_await with_timeout(limit, ask_by_udp(server, query, asked));
    if (!reply || !reply->parsed.truncated || !over_tcp) co_return reply;
    const tcp::endpoint same{server.address(), server.port()};
    co_return co_await with_timeout(limit, ask_by_tcp(same, query, asked));
  } catch (const system_error& fault) {
    if (fault.code() == asio::error::operation_aborted) throw;
    log::debug("no answer from the name server {}: {}", server.address().to_string(), fault.what());
  } catch (const Error& e) {
    log::debug("no answer from the name server {}: {}", server.address().to_string(), e.what());
  }
  co_return std::nullopt;
}

// Another server may know more; libc asks on after these, too.
bool is_final(int code) {
  return code != server_failure && code != not_implemented && code != refused;
}

bool is_for_servers(const DnsQuery& query) {
  return query.klass != DnsQuery::internet || query.type == DnsQuery::ixfr ||
         query.type == DnsQuery::axfr;
}

}  // namespace

Resolver::Resolver(std::string configuration)
    : servers_{std::move(configuration)}, limit_{kLimit} {}

Resolver::Resolver(NameServerList servers, milliseconds limit)
    : servers_{std::move(servers)}, limit_{limit} {}

Task<std::string> Resolver::answer(std::string query, DnsQuery parsed, bool over_tcp) {
  if (is_for_servers(parsed)) co_return make_error_answer(query, parsed, refused);
  const NameServerList servers = servers_.at(std::chrono::steady_clock::now());
  std::string best = make_error_answer(query, parsed, server_failure);
  bool done = false;
  for (size_t i = 0; i < kRounds * servers.size() && !done; ++i) {
    DnsQuery asked = parsed;
    asked.id = random_id();
    std::string question = make_query(query, parsed, asked.id);
    const auto& server = servers[i % servers.size()];
    auto reply = co_await ask(server, std::move(question), std::move(asked), over_tcp, limit_);
    if (!reply) continue;
    best = std::move(reply->message);
    done = is_final(reply->parsed.code);
  }
  set_id(best, parsed.id);
  const bool fits = over_tcp || best.size() <= parsed.udp_limit;
  co_return fits ? best : make_truncated_answer(query, parsed);
}

}  // namespace belljar::network
