#include "drivers/linux/launcher/gate_rules.h"

#include <netinet/in.h>  // before the kernel's own, which then leave out what it has

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include <cstddef>

#include "drivers/linux/launcher/netlink.h"
#include "sandbox/gate.h"

namespace belljar::launcher {

namespace {

constexpr const char* kTable = "belljar";
constexpr const char* kChain = "gate";

// One rule, expression by expression. All use register 1.
class Rule {
 public:
  explicit Rule(Netlink& netlink) : netlink_{netlink} {
    const nfgenmsg header{NFPROTO_INET, NFNETLINK_V0, 0};
    netlink_.begin(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND,
                   &header, sizeof header);
    netlink_.add(NFTA_RULE_TABLE, kTable);
    netlink_.add(NFTA_RULE_CHAIN, kChain);
    list_ = netlink_.open(NFTA_RULE_EXPRESSIONS);
  }
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;
  ~Rule() { netlink_.close(list_); }

  Rule& load_meta(uint32_t key) {
    begin("meta");
    netlink_.add_be32(NFTA_META_DREG, NFT_REG_1);
    netlink_.add_be32(NFTA_META_KEY, key);
    return end();
  }

  Rule& load_bytes(uint32_t base, uint32_t offset, uint32_t size) {
    begin("payload");
    netlink_.add_be32(NFTA_PAYLOAD_DREG, NFT_REG_1);
    netlink_.add_be32(NFTA_PAYLOAD_BASE, base);
    netlink_.add_be32(NFTA_PAYLOAD_OFFSET, offset);
    netlink_.add_be32(NFTA_PAYLOAD_LEN, size);
    return end();
  }

  Rule& mask(uint8_t bits) {
    constexpr uint8_t kNone = 0;
    begin("bitwise");
    netlink_.add_be32(NFTA_BITWISE_SREG, NFT_REG_1);
    netlink_.add_be32(NFTA_BITWISE_DREG, NFT_REG_1);
    netlink_.add_be32(NFTA_BITWISE_LEN, 1);
    value(NFTA_BITWISE_MASK, &bits, 1);
    value(NFTA_BITWISE_XOR, &kNone, 1);
    return end();
  }

  Rule& compare(uint32_t operation, const void* data, size_t size) {
    begin("cmp");
    netlink_.add_be32(NFTA_CMP_SREG, NFT_REG_1);
    netlink_.add_be32(NFTA_CMP_OP, operation);
    value(NFTA_CMP_DATA, data, size);
    return end();
  }

  Rule& is(uint8_t byte) { return compare(NFT_CMP_EQ, &byte, 1); }
  Rule& of_family(uint8_t family) { return load_meta(NFT_META_NFPROTO).is(family); }
  Rule& is_tcp() { return load_meta(NFT_META_L4PROTO).is(IPPROTO_TCP); }

  Rule& hand_to_gate(uint8_t family) {
    const uint16_t port = htons(kGatePort);
    begin("immediate");
    netlink_.add_be32(NFTA_IMMEDIATE_DREG, NFT_REG_1);
    value(NFTA_IMMEDIATE_DATA, &port, sizeof port);
    end();
    begin("tproxy");
    netlink_.add_be32(NFTA_TPROXY_FAMILY, family);
    netlink_.add_be32(NFTA_TPROXY_REG_PORT, NFT_REG_1);
    return end();
  }

  void accept() {
    begin("immediate");
    netlink_.add_be32(NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
    const size_t data = netlink_.open(NFTA_IMMEDIATE_DATA);
    const size_t verdict = netlink_.open(NFTA_DATA_VERDICT);
    netlink_.add_be32(NFTA_VERDICT_CODE, NF_ACCEPT);
    netlink_.close(verdict);
    netlink_.close(data);
    end();
  }

 private:
  void begin(const char* name) {
    element_ = netlink_.open(NFTA_LIST_ELEM);
    netlink_.add(NFTA_EXPR_NAME, name);
    data_ = netlink_.open(NFTA_EXPR_DATA);
  }
  Rule& end() {
    netlink_.close(data_);
    netlink_.close(element_);
    return *this;
  }
  void value(uint16_t attribute, const void* data, size_t size) {
    const size_t nest = netlink_.open(attribute);
    netlink_.add(NFTA_DATA_VALUE, data, size);
    netlink_.close(nest);
  }

  Netlink& netlink_;
  size_t list_ = 0;
  size_t element_ = 0;
  size_t data_ = 0;
};

void add_table(Netlink& netlink) {
  const nfgenmsg header{NFPROTO_INET, NFNETLINK_V0, 0};
  netlink.begin(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWTABLE, NLM_F_CREATE | NLM_F_EXCL, &header,
                sizeof header);
  netlink.add(NFTA_TABLE_NAME, kTable);
}

// Whatever no rule accepts is dropped.
void add_chain(Netlink& netlink) {
  const nfgenmsg header{NFPROTO_INET, NFNETLINK_V0, 0};
  netlink.begin(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWCHAIN, NLM_F_CREATE | NLM_F_EXCL, &header,
                sizeof header);
  netlink.add(NFTA_CHAIN_TABLE, kTable);
  netlink.add(NFTA_CHAIN_NAME, kChain);
  const size_t hook = netlink.open(NFTA_CHAIN_HOOK);
  constexpr int kBeforeRouting = -150;  // "mangle", where tproxy belongs
  netlink.add_be32(NFTA_HOOK_HOOKNUM, NF_INET_PRE_ROUTING);
  netlink.add_be32(NFTA_HOOK_PRIORITY, static_cast<uint32_t>(kBeforeRouting));
  netlink.close(hook);
  netlink.add_be32(NFTA_CHAIN_POLICY, NF_DROP);
  netlink.add(NFTA_CHAIN_TYPE, "filter");
}

void add_rules(Netlink& netlink) {
  // The sandbox's own servers.
  constexpr uint8_t kLoopback6[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const auto to_own = [&netlink](uint8_t family, uint32_t offset, const void* address,
                                 size_t size) {
    Rule rule{netlink};
    rule.of_family(family)
        .load_bytes(NFT_PAYLOAD_NETWORK_HEADER, offset, static_cast<uint32_t>(size))
        .compare(NFT_CMP_EQ, address, size)
        .accept();
  };
  constexpr uint8_t kLoopback4 = 127;
  to_own(NFPROTO_IPV4, kDestination, &kLoopback4, 1);
  to_own(NFPROTO_IPV4, kDestination, kGateSelf.data(), kGateSelf.size());
  to_own(NFPROTO_IPV6, kDestination6, kLoopback6, sizeof kLoopback6);
  to_own(NFPROTO_IPV6, kDestination6, kGateSelf6.data(), kGateSelf6.size());
  // Connections that belljar lets through.
  for (const uint8_t family : {NFPROTO_IPV4, NFPROTO_IPV6}) {
    Rule rule{netlink};
    rule.load_meta(NFT_META_MARK)
        .compare(NFT_CMP_EQ, &kCarried, sizeof kCarried)
        .of_family(family)
        .is_tcp()
        .hand_to_gate(family)
        .accept();
  }
  // All of a connection but its first packet.
  constexpr uint8_t kFirst = kSyn;
  Rule rule{netlink};
  rule.is_tcp()
      .load_bytes(NFT_PAYLOAD_TRANSPORT_HEADER, kTcpFlags, 1)
      .mask(kSyn | kAck)
      .compare(NFT_CMP_NEQ, &kFirst, 1)
      .accept();
}

}  // namespace

int add_gate_rules() {
  Netlink netlink{NETLINK_NETFILTER};
  const nfgenmsg bounds{AF_UNSPEC, NFNETLINK_V0, htons(NFNL_SUBSYS_NFTABLES)};
  netlink.begin(NFNL_MSG_BATCH_BEGIN, 0, &bounds, sizeof bounds, false);
  add_table(netlink);
  add_chain(netlink);
  add_rules(netlink);
  netlink.begin(NFNL_MSG_BATCH_END, 0, &bounds, sizeof bounds, false);
  return netlink.commit();
}

}  // namespace belljar::launcher
