#include "network/egress.h"

#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>

#include "base/log.h"
#include "network/accept.h"

namespace belljar::network {

namespace {

using Socket = asio::posix::stream_descriptor;
using std::chrono::seconds;

// What a query holds, in descriptors; a connection to the name server has its own socket, too.
constexpr size_t kQuery = 1;
constexpr size_t kConnectionForQueries = 1 + kQuery;
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

struct Egress::Awaited {
  explicit Awaited(const asio::any_io_executor& executor) : accepted{executor} {}
  Event accepted;
  Fd inside;
};

Egress::Egress(const asio::any_io_executor& executor, Gate gate, Policy policy,
               Passage::Shared shared)
    : passage_{std::move(policy), shared},
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

// ---- TCP ---------------------------------------------------------------------------------------

void Egress::take_connection(std::string_view bytes, const Packet& packet) {
  const Pair ends{packet.from, packet.to};
  if (awaited_.contains(ends)) return;  // sent again: the first is on its way
  const bool is_for_us = is_resolver(packet.to);
  Way way =
      is_for_us ? Way{packet.to.address.to_string(), true, packet.to} : passage_.judge(packet.to);
  const Limit limit = passage_.budget().limit(awaited_.size(), kConnection);
  if (!way.open) {
    passage_.block(way.host, packet.to.port);
  } else if (limit != Limit::none) {
    passage_.refuse(way.host, packet.to.port, limit);
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
  const Entry entry{awaited_, passage_.budget(), kConnection, ends,
                    std::make_shared<Awaited>(executor)};
  std::optional<Passage::Dialled> outside;
  try {
    outside = co_await passage_.dial(std::move(way));
  } catch (const Error&) {
    injector_.put(make_refusal(first_packet));
    co_return;
  }
  if (!outside) co_return;  // the program waits, too, and gives up by itself
  Fd inside = co_await let_in(std::move(first_packet), ends);
  if (inside) co_await passage_.join(std::move(inside), std::move(*outside));
}

// The program's end of a connection whose first packet it is; none if the program has given up.
Task<Fd> Egress::let_in(std::string first_packet, Pair ends) {
  const auto waiting = awaited_.at(ends);
  injector_.put(with_checksum(first_packet));
  if (!co_await with_timeout(kAcceptLimit, waiting->accepted.wait())) co_return Fd{};
  co_return std::move(waiting->inside);
}

Task<> Egress::accept() {
  for (;;) {
    Fd inside = co_await accept_next(connections_);
    // What nobody dialled for is closed: a program may find the gate's own port.
    const auto at = awaited_.find({end_of(inside, ::getpeername), end_of(inside, ::getsockname)});
    if (at == awaited_.end() || at->second->accepted.is_set()) continue;
    at->second->inside = std::move(inside);
    at->second->accepted.set();
  }
}

// ---- UDP ---------------------------------------------------------------------------------------

void Egress::take_datagram(const Packet& packet) {
  if (is_resolver(packet.to)) {
    if (passage_.budget().limit(queries_, kQuery) != Limit::none) return;  // the program asks again
    tasks_.spawn("answer a query", answer_datagram(std::string{packet.payload}, packet.from));
    return;
  }
  if (datagrams_.send(packet)) return;
  const Way way = passage_.judge(packet.to);
  if (!way.open) return passage_.block(way.host, packet.to.port);
  const Limit limit = datagrams_.limit();
  if (limit != Limit::none) return passage_.refuse(way.host, packet.to.port, limit);
  auto traffic = passage_.allow(way.host, packet.to.port);
  if (!datagrams_.open(packet, way.to, std::move(traffic)))
    log::debug("no socket for datagrams to {}", way.host);
}

// ---- DNS ---------------------------------------------------------------------------------------

Task<> Egress::answer_datagram(std::string query, Endpoint from) {
  const Counted counted{queries_};
  const Budget::Share share{passage_.budget(), kQuery};
  const std::string answer = co_await passage_.resolve(std::move(query), false);
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
  const Entry entry{awaited_, passage_.budget(), kConnectionForQueries, ends,
                    std::make_shared<Awaited>(executor)};
  Fd inside = co_await let_in(std::move(first_packet), ends);
  if (!inside) co_return;
  Socket socket{executor, inside.release()};
  // One query after the other.
  for (;;) {
    try {
      auto query = co_await with_timeout(kQueryLimit, read_query(socket));
      if (!query) co_return;
      const std::string answer = co_await passage_.resolve(std::move(*query), true);
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
