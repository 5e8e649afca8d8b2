#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/task_group.h"
#include "network/budget.h"
#include "network/datagrams.h"
#include "network/name_book.h"
#include "network/packet.h"
#include "network/policy.h"
#include "network/resolver.h"
#include "network/secrets.h"
#include "network/traffic_log.h"
#include "sandbox/gate.h"
#include "sandbox/traffic.h"

namespace belljar::network {

// Carries what programs of one sandbox send through its gate to where they sent it, if the policy
// allows that; answers their DNS queries; and counts. A connection is dialled first and accepted
// only when that worked, so that programs see what they would see without a sandbox: refused is
// refused, and silence is silence.
class Egress final : public Connectivity {
 public:
  // What is shared with other sandboxes. Must outlive it.
  struct Shared {
    Resolver& resolver;
    Budget& budget;
    const Clock& clock;
    const Secrets* secrets;  // null: there are none
  };
  Egress(const asio::any_io_executor& executor, Gate gate, Policy policy, Shared shared);

  // To be awaited before the destructor.
  Task<> stop();

  std::vector<Traffic> traffic() const override { return log_.all(); }
  std::string policy() const override { return policy_.text(); }

 private:
  // Where a connection or datagram leads to, or why to nowhere.
  struct Way {
    std::string host;  // as people know it
    bool open = false;
    Endpoint to;
  };
  struct Dialled;  // a connection that is dialled, waits to be accepted, or carries
  using Pair = std::pair<Endpoint, Endpoint>;  // the program's end, and what it asked for

  Task<> read_packets();
  int take_packets();
  void take(std::string_view bytes);
  Way judge(const Endpoint& to) const;
  void take_connection(std::string_view bytes, const Packet& packet);
  void take_datagram(const Packet& packet);
  Task<> carry(std::string first_packet, Pair ends, Way way);
  Task<std::optional<Secret::Host>> guarded_host(int inside, int outside, uint16_t port);
  Task<> accept_and_resolve(std::string first_packet, Pair ends);
  Task<Fd> let_in(std::string first_packet, Pair ends);
  Task<> accept();
  Task<std::string> resolve(std::string query, bool over_tcp);
  Task<> answer_datagram(std::string query, Endpoint from);
  void block(const std::string& host, uint16_t port);
  void refuse(const std::string& host, uint16_t port, Limit reached);

  Policy policy_;
  Shared shared_;
  Injector injector_;
  asio::posix::stream_descriptor packets_;
  asio::posix::stream_descriptor connections_;
  TrafficLog log_;
  NameBook names_;
  std::map<Pair, std::shared_ptr<Dialled>> dialled_;
  size_t queries_ = 0;  // being answered
  TaskGroup tasks_;
  Datagrams datagrams_;
};

}  // namespace belljar::network
