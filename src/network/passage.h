#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "network/budget.h"
#include "network/name_book.h"
#include "network/packet.h"
#include "network/policy.h"
#include "network/resolver.h"
#include "network/secrets.h"
#include "network/traffic_log.h"

namespace belljar::network {

// What a connection holds, in descriptors: two sockets and two pipes, and these half a MiB.
constexpr size_t kConnection = 6;

// What the programs of one sandbox reach: asks the policy, looks names up, dials, carries and
// counts. How a program's wish comes here is the business of its owner: through a gate (Egress) or
// to a proxy (ForwardProxy).
class Passage {
 public:
  // What is shared with other sandboxes. Must outlive it.
  struct Shared {
    Resolver& resolver;
    Budget& budget;
    const Clock& clock;
    const Secrets* secrets;  // null: there are none
  };
  Passage(Policy policy, Shared shared) : policy_{std::move(policy)}, shared_{shared} {}
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

  const Policy& policy() const { return policy_; }
  Budget& budget() const { return shared_.budget; }
  std::vector<Traffic> traffic() const { return log_.all(); }

  // Where a connection or datagram leads to, or why to nowhere.
  struct Way {
    std::string host;  // as people know it
    bool open = false;
    Endpoint to;
  };
  Way judge(const Endpoint& to) const;

  // Counts an attempt that comes to nothing, and logs the first of its kind. Without a port it was
  // a name that was looked up.
  void block(const std::string& host, uint16_t port);
  void refuse(const std::string& host, uint16_t port, Limit reached);

  // Counts one that gets through.
  std::shared_ptr<Traffic> allow(const std::string& host, uint16_t port) {
    return log_.attempt(host, port, Traffic::Verdict::allowed);
  }

  // A connection outside that a program may have.
  struct Dialled {
    Way way;
    Fd socket;
    std::shared_ptr<uint64_t> count;  // of its bytes; null: the host must prove to be it first
  };

  // By a way that is open. Nothing if nobody answers, in time; an Error if somebody refuses. Counts
  // both.
  Task<std::optional<Dialled>> dial(Way way);

  // Joins it with the program's end, a stream socket that does not block, until both have ended. A
  // host that has secrets gets them on the way. What goes wrong is logged.
  Task<> join(Fd inside, Dialled outside);

  // The answer to a program's DNS query; "" for what is no query.
  Task<std::string> resolve(std::string query, bool over_tcp);

  // The addresses of a name (in canonical form) that may be looked up; none if it has none.
  Task<std::vector<asio::ip::address>> look_up(std::string name);

 private:
  Task<std::vector<asio::ip::address>> look_up(std::string name, uint16_t type);
  std::shared_ptr<uint64_t> note(const Way& way, bool is_host);
  Task<std::optional<Secret::Host>> guarded_host(int inside, int outside, uint16_t port);

  Policy policy_;
  Shared shared_;
  TrafficLog log_;
  NameBook names_;
};

}  // namespace belljar::network
