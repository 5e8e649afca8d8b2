#include "drivers/linux/launcher/gate.h"

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/ip.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

#include "drivers/linux/launcher/gate_rules.h"
#include "drivers/linux/launcher/netlink.h"
#include "sandbox/gate.h"

namespace belljar::launcher {

namespace {

template <size_t N>
void add_address(Netlink& netlink, uint8_t family, const std::array<uint8_t, N>& address) {
  ifaddrmsg header{};
  header.ifa_family = family;
  header.ifa_prefixlen = N * 8;
  header.ifa_flags = IFA_F_PERMANENT | IFA_F_NODAD;  // usable now: nobody else can have it
  header.ifa_scope = RT_SCOPE_UNIVERSE;
  header.ifa_index = kLoopbackIndex;
  netlink.begin(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &header, sizeof header);
  netlink.add(IFA_LOCAL, address.data(), N);
  netlink.add(IFA_ADDRESS, address.data(), N);
}

// "ip route add local default dev lo src ADDRESS"
template <size_t N>
void add_route(Netlink& netlink, uint8_t family, const std::array<uint8_t, N>& source) {
  rtmsg header{};
  header.rtm_family = family;
  header.rtm_table = RT_TABLE_LOCAL;
  header.rtm_protocol = RTPROT_BOOT;
  header.rtm_scope = RT_SCOPE_HOST;
  header.rtm_type = RTN_LOCAL;
  netlink.begin(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &header, sizeof header);
  netlink.add_u32(RTA_OIF, kLoopbackIndex);
  netlink.add(RTA_PREFSRC, source.data(), N);
}

// Packets that belljar sends have a source address that is local here, as all are. The kernel takes
// them for forged unless told otherwise.
void accept_local_sources(Netlink& netlink) {
  ifinfomsg header{};
  header.ifi_index = kLoopbackIndex;
  netlink.begin(RTM_NEWLINK, 0, &header, sizeof header);
  const size_t families = netlink.open(IFLA_AF_SPEC);
  const size_t ipv4 = netlink.open(AF_INET);
  const size_t settings = netlink.open(IFLA_INET_CONF);
  netlink.add_u32(IPV4_DEVCONF_ACCEPT_LOCAL, 1);
  netlink.close(settings);
  netlink.close(ipv4);
  netlink.close(families);
}

bool has_ipv6() {
  return Fd{::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)}.get() >= 0;
}

int make_all_local() {
  Netlink ipv4{NETLINK_ROUTE};
  add_address(ipv4, AF_INET, kGateSelf);
  add_route(ipv4, AF_INET, kGateSelf);
  accept_local_sources(ipv4);
  if (const int error = ipv4.commit()) return error;
  if (!has_ipv6()) return 0;
  Netlink ipv6{NETLINK_ROUTE};
  add_address(ipv6, AF_INET6, kGateSelf6);
  add_route(ipv6, AF_INET6, kGateSelf6);
  return ipv6.commit();
}

// Lets pass what Gate::packets is for, so that the bulk of the traffic never wakes belljar. Offsets
// are from the network header.
constexpr uint32_t kWhole = 0x40000;
constexpr uint8_t kIpv4Filter = 19;  // the number of instructions

constexpr uint32_t about_packet(int what) {
  return static_cast<uint32_t>(SKF_AD_OFF + what);
}

constexpr uint32_t word(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

constexpr sock_filter kPacketFilter[] = {
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, about_packet(SKF_AD_PKTTYPE)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, about_packet(SKF_AD_MARK)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, about_packet(SKF_AD_PROTOCOL)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, kIpv4Filter, 0),
    // IPv4: not to the sandbox itself; UDP, or TCP with SYN and without ACK.
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kDestination),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 127, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kDestination),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word(kGateSelf.data()), 0, 1),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),  // the protocol
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, kWhole),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),  // the length of the header
    BPF_STMT(BPF_LD | BPF_B | BPF_IND, kTcpFlags),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kSyn | kAck),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kSyn, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, kWhole),
    BPF_STMT(BPF_RET | BPF_K, 0),
    // IPv6: the same.
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kDestination6),  // is it ::1?
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 7),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kDestination6 + 4),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 5),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kDestination6 + 8),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kDestination6 + 12),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kDestination6),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word(kGateSelf6.data()), 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kDestination6 + 12),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word(kGateSelf6.data() + 12), 0, 1),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),  // the next header
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, kWhole),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 40 + kTcpFlags),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kSyn | kAck),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kSyn, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, kWhole),
    BPF_STMT(BPF_RET | BPF_K, 0),
};

template <class Value>
int set(const Fd& socket, int level, int option, const Value& value) {
  return ::setsockopt(socket.get(), level, option, &value, sizeof value) == 0 ? 0 : errno;
}

}  // namespace

int bring_loopback_up() {
  const Fd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!socket) return errno;
  ifreq request{};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0 ? 0 : errno;
}

int lead_to_gate() {
  if (const int error = make_all_local()) return error;
  return add_gate_rules();
}

int open_gate_packets(Fd& result) {
  constexpr int kFlags = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  // Of no protocol until it has its filter: nothing else ever comes in.
  result.reset(::socket(AF_PACKET, kFlags, 0));
  if (!result) return errno;
  const sock_fprog filter{std::size(kPacketFilter), const_cast<sock_filter*>(kPacketFilter)};
  if (const int error = set(result, SOL_SOCKET, SO_ATTACH_FILTER, filter)) return error;
  if (const int error = set(result, SOL_SOCKET, SO_LOCK_FILTER, 1)) return error;
  if (const int error = set(result, SOL_SOCKET, SO_MARK, kCarried)) return error;
  if (const int error = set(result, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)) return error;
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = kLoopbackIndex;
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  return ::bind(result.get(), any, sizeof address) == 0 ? 0 : errno;
}

int open_gate_connections(Fd& result) {
  constexpr int kFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  const bool ipv6 = has_ipv6();
  result.reset(::socket(ipv6 ? AF_INET6 : AF_INET, kFlags, 0));
  if (!result) return errno;
  sockaddr_in6 both{};
  both.sin6_family = AF_INET6;
  both.sin6_port = htons(kGatePort);
  sockaddr_in only{};
  only.sin_family = AF_INET;
  only.sin_port = htons(kGatePort);
  if (const int error = set(result, SOL_IP, IP_TRANSPARENT, 1)) return error;
  if (ipv6) {
    if (const int error = set(result, SOL_IPV6, IPV6_V6ONLY, 0)) return error;
    if (const int error = set(result, SOL_IPV6, IPV6_TRANSPARENT, 1)) return error;
  }
  const auto* address =
      ipv6 ? reinterpret_cast<const sockaddr*>(&both) : reinterpret_cast<const sockaddr*>(&only);
  if (::bind(result.get(), address, ipv6 ? sizeof both : sizeof only) != 0) return errno;
  return ::listen(result.get(), SOMAXCONN) == 0 ? 0 : errno;
}

}  // namespace belljar::launcher
