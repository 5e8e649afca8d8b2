#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "network/passage.h"
#include "network/proxy_request.h"
#include "sandbox/traffic.h"

namespace belljar::network {

// The way out of a sandbox that has no gate: a proxy that listens inside of it. Programs that know
// proxies find it by their environment (proxy_variables()), ask it for connections or http
// addresses, and get what the policy allows; any others reach nothing. Names are looked up here, so
// that what is dialled is what was judged.
class ForwardProxy final : public Connectivity {
 public:
  // Programs can have this many connections open to it; one more is closed at once.
  static constexpr size_t kMostOpen = 2 * kMostAtATime;

  // `listener`: a stream socket that listens inside, and does not block.
  ForwardProxy(const asio::any_io_executor& executor, Fd listener, Policy policy,
               Passage::Shared shared);

  // To be awaited before the destructor.
  Task<> stop();

  std::vector<Traffic> traffic() const override { return passage_.traffic(); }
  std::string policy() const override { return passage_.policy().text(); }

 private:
  using Socket = asio::posix::stream_descriptor;
  Task<> accept();
  Task<> serve(Fd program);
  Task<> carry(Socket& program, std::string head);
  Task<std::vector<Passage::Way>> ways_to(const ProxyRequest& request);
  Task<Passage::Dialled> reach(const ProxyRequest& request);
  [[noreturn]] void block(const ProxyRequest& request);

  Passage passage_;
  Socket listener_;
  size_t open_ = 0;     // connections of programs
  size_t carried_ = 0;  // of these, those that lead somewhere
  TaskGroup tasks_;
};

// By which programs find a proxy that listens at this port inside.
std::map<std::string, std::string> proxy_variables(uint16_t port);

}  // namespace belljar::network
