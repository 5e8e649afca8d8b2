#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <map>
#include <memory>
#include <string>

#include "base/task_group.h"
#include "network/datagrams.h"
#include "network/packet.h"
#include "network/passage.h"
#include "sandbox/gate.h"
#include "sandbox/traffic.h"

namespace belljar::network {

// The way out of a sandbox that has a gate: carries what programs send there to where they sent
// it, if the policy allows that, and answers their DNS queries. A connection is dialled first and
// accepted only when that worked, so that programs see what they would see without a sandbox:
// refused is refused, and silence is silence.
class Egress final : public Connectivity {
 public:
  Egress(const asio::any_io_executor& executor, Gate gate, Policy policy, Passage::Shared shared);

  // To be awaited before the destructor.
  Task<> stop();

  std::vector<Traffic> traffic() const override { return passage_.traffic(); }
  std::string policy() const override { return passage_.policy().text(); }

 private:
  using Way = Passage::Way;
  struct Awaited;  // a connection that is dialled, waits to be accepted, or carries
  using Pair = std::pair<Endpoint, Endpoint>;  // the program's end, and what it asked for

  Task<> read_packets();
  int take_packets();
  void take(std::string_view bytes);
  void take_connection(std::string_view bytes, const Packet& packet);
  void take_datagram(const Packet& packet);
  Task<> carry(std::string first_packet, Pair ends, Way way);
  Task<> accept_and_resolve(std::string first_packet, Pair ends);
  Task<Fd> let_in(std::string first_packet, Pair ends);
  Task<> accept();
  Task<> answer_datagram(std::string query, Endpoint from);

  Passage passage_;
  Injector injector_;
  asio::posix::stream_descriptor packets_;
  asio::posix::stream_descriptor connections_;
  std::map<Pair, std::shared_ptr<Awaited>> awaited_;
  size_t queries_ = 0;  // being answered
  TaskGroup tasks_;
  Datagrams datagrams_;
};

}  // namespace belljar::network
