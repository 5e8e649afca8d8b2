#include "network/datagrams.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/ip/udp.hpp>
#include <cerrno>

#include "base/fd.h"
#include "sandbox/gate.h"

namespace belljar::network {

namespace {

constexpr std::chrono::seconds kIdle{60};
constexpr size_t kLargest = 65535;
// So many datagrams in a row, then whoever else waits for the loop gets a turn.
constexpr int kDatagramsPerTurn = 64;

}  // namespace

void Injector::put(const std::string& packet) const {
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_protocol = htons(packet[0] >> 4 == 4 ? ETH_P_IP : ETH_P_IPV6);
  to.sll_ifindex = kLoopbackIndex;
  to.sll_halen = ETH_ALEN;  // the loopback interface's address is all zeros
  ::sendto(packets_, packet.data(), packet.size(), MSG_DONTWAIT,
           reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

struct Datagrams::Flow {
  Flow(const asio::any_io_executor& executor, Fd fd, Budget& budget,
       std::shared_ptr<Traffic> counted)
      : share{budget, 1}, socket{executor, fd.release()}, traffic{std::move(counted)} {}

  Budget::Share share;
  asio::posix::stream_descriptor socket;
  std::shared_ptr<Traffic> traffic;
  bool used = true;  // since it was last looked at
};

Datagrams::Datagrams(const asio::any_io_executor& executor, Injector injector, Budget& budget)
    : injector_{injector}, budget_{budget}, executor_{executor}, tasks_{executor} {}

bool Datagrams::send(const Packet& packet) {
  const auto at = flows_.find({packet.from, packet.to});
  if (at == flows_.end()) return false;
  Flow& flow = *at->second;
  flow.used = true;
  const ssize_t sent = ::send(flow.socket.native_handle(), packet.payload.data(),
                              packet.payload.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent > 0) flow.traffic->bytes += static_cast<uint64_t>(sent);
  return true;
}

bool Datagrams::open(const Packet& packet, const Endpoint& dialled,
                     std::shared_ptr<Traffic> traffic) {
  if (limit() != Limit::none) return false;
  const asio::ip::udp::endpoint to{dialled.address, dialled.port};
  Fd socket{::socket(to.protocol().family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!socket || ::connect(socket.get(), to.data(), static_cast<socklen_t>(to.size())) != 0)
    return false;
  const Pair pair{packet.from, packet.to};
  const auto flow =
      std::make_shared<Flow>(executor_, std::move(socket), budget_, std::move(traffic));
  flows_[pair] = flow;
  tasks_.spawn("carry datagrams", receive(pair, flow));
  return send(packet);
}

Task<> Datagrams::receive(Pair pair, std::shared_ptr<Flow> flow) {
  std::string buffer;
  for (int count = 1;; ++count) {
    auto readable =
        flow->socket.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    const bool in_time = co_await with_timeout(kIdle, std::move(readable));
    if (!in_time && !std::exchange(flow->used, false)) break;
    if (!in_time) continue;
    buffer.resize(kLargest);
    const ssize_t size =
        ::recv(flow->socket.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size >= 0) {
      flow->traffic->bytes += static_cast<uint64_t>(size);
      const std::string_view payload{buffer.data(), static_cast<size_t>(size)};
      injector_.put(make_datagram(pair.second, pair.first, payload));
    }
    buffer = {};  // many flows wait, few have something to hold
    if (count % kDatagramsPerTurn == 0) co_await asio::post(asio::use_awaitable);
  }
  flows_.erase(pair);
}

Task<> Datagrams::stop() {
  co_await tasks_.stop();
  flows_.clear();
}

}  // namespace belljar::network
