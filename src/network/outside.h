#pragma once

#include <memory>

#include "base/clock.h"
#include "base/task_group.h"
#include "network/budget.h"
#include "network/egress.h"
#include "network/forward_proxy.h"
#include "network/policy.h"
#include "network/resolver.h"
#include "sandbox/gate.h"
#include "sandbox/traffic.h"

namespace belljar::network {

// What is outside of all sandboxes: makes the ways there, and ends them.
class Outside {
 public:
  // `clock` and `secrets` must outlive it; null: there are none.
  Outside(const asio::any_io_executor& executor, const Clock& clock,
          const Secrets* secrets = nullptr);

  // From now on programs of the sandbox with this gate reach what the policy allows, until the last
  // copy of what this returns is gone.
  std::shared_ptr<Connectivity> connect(Gate gate, Policy policy);

  // The same for a sandbox without a gate: by a proxy, whose socket listens inside. Programs find
  // it by proxy_variables().
  std::shared_ptr<Connectivity> serve_proxy(Fd listener, Policy policy);

  // What programs with this policy have in their environment because of secrets.
  std::map<std::string, std::string> variables(const Policy& policy) const;

  // Waits for the end of all that were let go. To be awaited before the destructor.
  Task<> stop() { return ends_.finish(); }

 private:
  template <class Way, class Source>
  std::shared_ptr<Connectivity> make(Source source, Policy policy);

  asio::any_io_executor executor_;
  const Clock& clock_;
  const Secrets* secrets_;
  Resolver resolver_;
  Budget budget_;
  TaskGroup ends_;
};

}  // namespace belljar::network
