#include "network/dial.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>

#include "base/connect.h"

namespace belljar::network {

Task<Fd> dial(Endpoint to) {
  const asio::ip::tcp::endpoint peer{to.address, to.port};
  constexpr int kKind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  Fd made{sys(::socket(peer.protocol().family(), kKind, 0), "make a socket")};
  if (const int error = co_await connect_socket(made.get(), peer); error != 0)
    fail_errno(error, fmt::format("connect to {} port {}", to.address.to_string(), to.port));
  co_return made;
}

namespace {

struct RouteQuestion {
  nlmsghdr message{};
  rtmsg route{};
  rtattr destination{};
  uint8_t address[16] = {};
};

// "ip route get fibmatch ADDRESS"
RouteQuestion ask_for(const asio::ip::address& address) {
  RouteQuestion question;
  const auto put = [&question](const auto& bytes) {
    std::copy(bytes.begin(), bytes.end(), question.address);
    question.route.rtm_dst_len = static_cast<uint8_t>(bytes.size() * 8);
    question.destination.rta_len = static_cast<uint16_t>(RTA_LENGTH(bytes.size()));
  };
  question.route.rtm_family = address.is_v4() ? AF_INET : AF_INET6;
  question.route.rtm_flags = RTM_F_FIB_MATCH;
  question.destination.rta_type = RTA_DST;
  if (address.is_v4()) {
    put(address.to_v4().to_bytes());
  } else {
    put(address.to_v6().to_bytes());
  }
  question.message.nlmsg_type = RTM_GETROUTE;
  question.message.nlmsg_flags = NLM_F_REQUEST;
  question.message.nlmsg_len =
      static_cast<uint32_t>(offsetof(RouteQuestion, destination) + question.destination.rta_len);
  return question;
}

bool has_gateway(const nlmsghdr* message, const rtmsg* route) {
  auto left = static_cast<int>(RTM_PAYLOAD(message));
  for (const rtattr* at = RTM_RTA(route); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
    if (at->rta_type == RTA_GATEWAY || at->rta_type == RTA_VIA || at->rta_type == RTA_MULTIPATH)
      return true;
  }
  return false;
}

}  // namespace

bool is_near(const asio::ip::address& address) {
  const Fd socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
  const RouteQuestion question = ask_for(address);
  if (!socket || ::send(socket.get(), &question, question.message.nlmsg_len, 0) < 0) return true;
  alignas(nlmsghdr) char answer[4096];
  const ssize_t size = ::recv(socket.get(), answer, sizeof answer, 0);  // is there already
  const auto* message = reinterpret_cast<const nlmsghdr*>(answer);
  if (size < 0 || !NLMSG_OK(message, static_cast<size_t>(size))) return true;
  if (message->nlmsg_type == NLMSG_ERROR) return false;  // there is no way: dialling will tell
  if (message->nlmsg_type != RTM_NEWROUTE) return true;
  const auto* route = static_cast<const rtmsg*>(NLMSG_DATA(message));
  if (route->rtm_type != RTN_UNICAST) return true;
  // A default route without a gateway is that of a tunnel, or a line to a provider.
  return route->rtm_dst_len > 0 && !has_gateway(message, route);
}

}  // namespace belljar::network
