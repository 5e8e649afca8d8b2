#include "network/egress.h"

#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>

#include "base/log.h"
#include "network/dial.h"
#include "network/relay.h"
#include "network/secret_relay.h"

namespace belljar::network {

namespace {

using Socket = asio::posix::stream_descriptor;
using std::chrono::seconds;

// What each holds, in descriptors. A connection has two sockets and two pipes, and these half a
// MiB; a connection to the name server has its socket and that of the query.
constexpr size_t kConnection = 6;
constexpr size_t kQuery = 1;
constexpr size_t kConnectionForQueries = 1 + kQuery;
constexpr seconds kDialLimit{60};
// The program's kernel has the packet by then, unless the program has given up.
constexpr seconds kAcceptLimit{5};
constexpr seconds kQueryLimit{10};  // between two queries of a connection
constexpr uint16_t kDnsPort = 53;
constexpr size_t kLargest = 65536 + 64;
// So many packets in a row, then whoever else waits for the loop gets a turn: a program can send
// faster than this process can look.
constexpr int kPacketsPerTurn = 64;
constexpr milliseconds kPauseOfFlood{1};

asio::ip::address to_address(const std::array<uint8_t, 4>& bytes) {
  return asio::ip::address_v4{bytes};
}

bool is_resolver(const Endpoint& to) {
  return to.port == kDnsPort && to.address == to_address(kGateResolver);
}

// One end of a connection. What came in by IPv6's socket may be an IPv4 address in disguise.
template <class Question>
Endpoint end_of(const Fd& socket, Question question) {
  asio::ip::tcp::endpoint end;
  socklen_t size = static_cast<socklen_t>(end.capacity());
  if (question(socket.get(), end.data(), &size) != 0) return {};
  end.resize(size);
  const auto address = end.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return {asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()), end.port()};
  return {address, end.port()};
}

}  // namespace

struct Egress::Dialled {
  explicit Dialled(const asio::any_io_executor& executor) : accepted{executor} {}
  Event accepted;
  Fd inside;
};

Egress::Egress(const asio::any_io_executor& executor, Gate gate, Policy policy, Shared shared)
    : policy_{std::move(policy)},
      shared_{shared},
      injector_{gate.packets.get()},
      packets_{executor, gate.packets.release()},
      connections_{executor, gate.connections.release()},
      tasks_{executor},
      datagrams_{executor, injector_, shared.budget} {
  tasks_.spawn("watch the gate", read_packets());
  tasks_.spawn("accept at the gate", accept());
}

Task<> Egress::stop() {
  co_await tasks_.stop();
  co_await datagrams_.stop();
  connections_.close();
  // The kernel holds whoever closes the last descriptor of a packet socket until no processor can
  // know it any more: for some ten milliseconds, which this thread does not have. The sandbox's
  // init has one, too, and would take as much longer to die if it were the last.
  asio::post(blocking_pool(), [packets = Fd{packets_.release()}]() mutable { packets.reset(); });
}

Task<> Egress::read_packets() {
  for (;;) {
    co_await packets_.async_wait(Socket::wait_read, asio::use_awaitable);
    if (take_packets() == kPacketsPerTurn) co_await sleep_for(kPauseOfFlood);
  }
}

// How many there were.
int Egress::take_packets() {
  char buffer[kLargest];
  int count = 0;
  for (; count < kPacketsPerTurn; ++count) {
    const ssize_t size = ::recv(packets_.native_handle(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size < 0) break;
    take({buffer, static_cast<size_t>(size)});
  }
  return count;
}

void Egress::take(std::string_view bytes) {
  const auto packet = parse_packet(bytes);
  if (!packet) return;
  if (packet->kind == Packet::Kind::connection) {
    take_connection(bytes, *packet);
  } else {
    take_datagram(*packet);
  }
}

Egress::Way Egress::judge(const Endpoint& to) const {
  const auto names = names_.names_of(to.address, shared_.clock.now());
  Way way{names.empty() ? to.address.to_string() : names.front(), false, to};
  if (to.address == to_address(kGateHost)) {
    way.open = policy_.kind() == Policy::Kind::host;
    way.to.address = asio::ip::address_v4::loopback();
    return way;
  }
  way.open = policy_.allows(to.address, to.port, names);
  // The host and its neighbours may have public addresses, too. Only somebody who names one means
  // it.
  const bool is_named =
      policy_.kind() == Policy::Kind::host ||
      (policy_.kind() == Policy::Kind::allow && policy_.allows(to.address, to.port, {}));
  if (way.open && !is_named && is_near(to.address)) way.open = false;
  return way;
}

void Egress::block(const std::string& host, uint16_t port) {
  const auto entry = log_.attempt(host, port, Traffic::Verdict::blocked);
  if (entry->attempts > 1) return;  // the log is not the program's to fill
  log::info("blocked: {}{}; network is {}", host, port == 0 ? "" : fmt::format(":{}", port),
            policy_.text());
}

void Egress::refuse(const std::string& host, uint16_t port, Limit reached) {
  const auto entry = log_.attempt(host, port, Traffic::Verdict::failed);
  const bool is_own = reached == Limit::own;
  if (++(is_own ? entry->over_own_limit : entry->over_shared_limit) > 1) return;
  log::info("refused: {}:{}; {}", host, port,
            is_own ? fmt::format("the limit of {} connections at a time was reached", kMostAtATime)
                   : "all sandboxes together have as many connections as belljar may");
}

// ---- TCP ---------------------------------------------------------------------------------------

void Egress::take_connection(std::string_view bytes, const Packet& packet) {
  const Pair ends{packet.from, packet.to};
  if (dialled_.contains(ends)) return;  // sent again: the first is on its way
  const bool is_for_us = is_resolver(packet.to);
  Way way = is_for_us ? Way{packet.to.address.to_string(), true, packet.to} : judge(packet.to);
  const Limit limit = shared_.budget.limit(dialled_.size(), kConnection);
  if (!way.open) {
    block(way.host, packet.to.port);
  } else if (limit != Limit::none) {
    refuse(way.host, packet.to.port, limit);
  } else if (is_for_us) {
    tasks_.spawn("answer queries", accept_and_resolve(std::string{bytes}, ends));
    return;
  } else {
    tasks_.spawn("carry a connection", carry(std::string{bytes}, ends, std::move(way)));
    return;
  }
  injector_.put(make_refusal(bytes));
}

namespace {

// Holds the place of a connection among those that there may be.
template <class Map>
class Entry {
 public:
  Entry(Map& map, Budget& budget, size_t descriptors, typename Map::key_type key,
        typename Map::mapped_type value)
      : map_{map}, share_{budget, descriptors}, key_{std::move(key)} {
    map_.emplace(key_, std::move(value));
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() { map_.erase(key_); }

 private:
  Map& map_;
  Budget::Share share_;
  typename Map::key_type key_;
};

}  // namespace

Task<> Egress::carry(std::string first_packet, Pair ends, Way way) {
  const auto executor = co_await asio::this_coro::executor;
  const Entry entry{dialled_, shared_.budget, kConnection, ends,
                    std::make_shared<Dialled>(executor)};
  const uint16_t port = way.to.port;
  std::optional<Fd> outside;
  try {
    outside = co_await with_timeout(kDialLimit, dial(way.to));
  } catch (const Error& e) {
    log::debug("{}", e.what());
    log_.attempt(way.host, port, Traffic::Verdict::failed);
    injector_.put(make_refusal(first_packet));
    co_return;
  }
  if (!outside) {  // the program waits, too, and gives up by itself
    log_.attempt(way.host, port, Traffic::Verdict::failed);
    co_return;
  }
  const auto note = [this, host = way.host, port](bool is_host) {
    using Verdict = Traffic::Verdict;
    const auto traffic = log_.attempt(host, port, is_host ? Verdict::allowed : Verdict::failed);
    return std::shared_ptr<uint64_t>{traffic, &traffic->bytes};
  };
  // A host that has secrets must prove to be it first.
  const bool may_be_guarded = shared_.secrets != nullptr && shared_.secrets->has_port(port);
  std::shared_ptr<uint64_t> count;
  if (!may_be_guarded) count = note(true);
  try {
    Fd inside = co_await let_in(std::move(first_packet), ends);
    if (!inside) co_return;
    std::optional<Secret::Host> guarded;
    if (may_be_guarded) guarded = co_await guarded_host(inside.get(), outside->get(), port);
    if (guarded) {
      co_await relay_with_secrets(std::move(inside), std::move(*outside), *guarded,
                                  *shared_.secrets, note);
    } else {
      if (!count) count = note(true);
      co_await relay(std::move(inside), std::move(*outside), std::move(count));
    }
  } catch (const Error& e) {
    log::debug("a connection to {} ended: {}", way.host, e.what());
  }
}

// The host that a program wants to speak with, if there are secrets for it.
Task<std::optional<Secret::Host>> Egress::guarded_host(int inside, int outside, uint16_t port) {
  Secret::Host host{co_await peek_server_name(inside, outside), port};
  // Whoever may reach the address because of another name that it has may not use the secret.
  if (!policy_.allows_name(host.name) || shared_.secrets->of(host).empty()) co_return std::nullopt;
  co_return host;
}

// The program's end of a connection whose first packet it is; none if the program has given up.
Task<Fd> Egress::let_in(std::string first_packet, Pair ends) {
  const auto waiting = dialled_.at(ends);
  injector_.put(with_checksum(first_packet));
  if (!co_await with_timeout(kAcceptLimit, waiting->accepted.wait())) co_return Fd{};
  co_return std::move(waiting->inside);
}

Task<> Egress::accept() {
  for (;;) {
    co_await connections_.async_wait(Socket::wait_read, asio::use_awaitable);
    Fd inside{
        ::accept4(connections_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!inside && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
      log::warning("cannot accept a connection of a sandbox: {}", std::strerror(errno));
      co_await sleep_for(milliseconds{100});
    }
    if (!inside) continue;
    // What nobody dialled for is closed: a program may find the gate's own port.
    const auto at = dialled_.find({end_of(inside, ::getpeername), end_of(inside, ::getsockname)});
    if (at == dialled_.end() || at->second->accepted.is_set()) continue;
    at->second->inside = std::move(inside);
    at->second->accepted.set();
  }
}

// ---- UDP ---------------------------------------------------------------------------------------

void Egress::take_datagram(const Packet& packet) {
  if (is_resolver(packet.to)) {
    if (shared_.budget.limit(queries_, kQuery) != Limit::none) return;  // the program asks again
    tasks_.spawn("answer a query", answer_datagram(std::string{packet.payload}, packet.from));
    return;
  }
  if (datagrams_.send(packet)) return;
  const Way way = judge(packet.to);
  if (!way.open) return block(way.host, packet.to.port);
  const Limit limit = datagrams_.limit();
  if (limit != Limit::none) return refuse(way.host, packet.to.port, limit);
  auto traffic = log_.attempt(way.host, packet.to.port, Traffic::Verdict::allowed);
  if (!datagrams_.open(packet, way.to, std::move(traffic)))
    log::debug("no socket for datagrams to {}", way.host);
}

// ---- DNS ---------------------------------------------------------------------------------------

// "" for what is no query.
Task<std::string> Egress::resolve(std::string query, bool over_tcp) {
  const auto parsed = parse_query(query);
  if (!parsed) co_return std::string{};
  if (!policy_.allows_name(parsed->name)) {
    block(parsed->name, 0);
    co_return make_error_answer(query, *parsed, DnsCode::no_such_name);
  }
  std::string answer = co_await shared_.resolver.answer(query, *parsed, over_tcp);
  if (const auto found = parse_answer(answer, *parsed))
    names_.remember(parsed->name, *found, shared_.clock.now());
  co_return answer;
}

Task<> Egress::answer_datagram(std::string query, Endpoint from) {
  struct Counted {
    size_t& count;
    explicit Counted(size_t& number) : count{++number} {}
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --count; }
  };
  const Counted counted{queries_};
  const Budget::Share share{shared_.budget, kQuery};
  const std::string answer = co_await resolve(std::move(query), false);
  if (answer.empty()) co_return;
  injector_.put(make_datagram({to_address(kGateResolver), kDnsPort}, from, answer));
}

namespace {

// A query over TCP, which comes with its length before it.
Task<std::string> read_query(Socket& socket) {
  std::array<uint8_t, 2> size{};
  co_await asio::async_read(socket, asio::buffer(size), asio::use_awaitable);
  std::string query(static_cast<size_t>(size[0] << 8 | size[1]), '\0');
  co_await asio::async_read(socket, asio::buffer(query), asio::use_awaitable);
  co_return query;
}

}  // namespace

Task<> Egress::accept_and_resolve(std::string first_packet, Pair ends) {
  const auto executor = co_await asio::this_coro::executor;
  const Entry entry{dialled_, shared_.budget, kConnectionForQueries, ends,
                    std::make_shared<Dialled>(executor)};
  Fd inside = co_await let_in(std::move(first_packet), ends);
  if (!inside) co_return;
  Socket socket{executor, inside.release()};
  // One query after the other.
  for (;;) {
    try {
      auto query = co_await with_timeout(kQueryLimit, read_query(socket));
      if (!query) co_return;
      const std::string answer = co_await resolve(std::move(*query), true);
      if (answer.empty()) co_return;
      std::string message;
      message += static_cast<char>(answer.size() >> 8);
      message += static_cast<char>(answer.size() & 0xff);
      message += answer;
      auto writing = asio::async_write(socket, asio::buffer(message), asio::use_awaitable);
      co_await std::move(writing);
    } catch (const boost::system::system_error& e) {
      if (e.code() == asio::error::operation_aborted) throw;
      co_return;
    }
  }
}

}  // namespace belljar::network
