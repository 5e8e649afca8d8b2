#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <map>
#include <memory>

#include "base/task_group.h"
#include "network/budget.h"
#include "network/packet.h"
#include "sandbox/traffic.h"

namespace belljar::network {

// Puts packets into a sandbox's network. One that finds no room is lost, as packets are.
class Injector {
 public:
  explicit Injector(int packets) : packets_{packets} {}
  void put(const std::string& packet) const;

 private:
  int packets_;
};

// UDP between programs of one sandbox and the outside: each pair of endpoints has a socket of its
// own, until nothing has come or gone for a while.
class Datagrams {
 public:
  // `budget` must outlive it.
  Datagrams(const asio::any_io_executor& executor, Injector injector, Budget& budget);

  // True if there is a socket for the pair already, by which it then was sent.
  bool send(const Packet& packet);

  // What stands in the way of one more.
  Limit limit() const { return budget_.limit(flows_.size(), 1); }

  // Opens one: `packet` goes to `dialled`, and what comes back to where it came from. False if that
  // cannot be, or there are too many.
  bool open(const Packet& packet, const Endpoint& dialled, std::shared_ptr<Traffic> traffic);

  Task<> stop();

 private:
  struct Flow;
  using Pair = std::pair<Endpoint, Endpoint>;  // the program's end first

  Task<> receive(Pair pair, std::shared_ptr<Flow> flow);

  Injector injector_;
  Budget& budget_;
  std::map<Pair, std::shared_ptr<Flow>> flows_;
  asio::any_io_executor executor_;
  TaskGroup tasks_;
};

}  // namespace belljar::network
