#pragma once

#include <string>
#include <vector>

#include "network/policy.h"
#include "sandbox/lease.h"
#include "sandbox/traffic.h"
#include "tools/arguments.h"
#include "tools/tools.h"

// What programs may reach outside: the argument `network`, and what a result says about it.
namespace belljar::tools {

// What a call gets that does not say, and the most that it may ask for.
network::Policy usual_network(const Settings& settings);
network::Policy most_network(const Settings& settings);

// False if no call can have a network.
bool reaches_outside(const Settings& settings);

Parameter network_parameter(const Settings& settings);
Parameter unchanged_network_parameter();  // for sandboxes that exist already

// Error{invalid} for what is no policy, or more than the operator allows.
network::Policy read_network(const Arguments& arguments, const Settings& settings);

// Error{invalid} if the argument is there and differs from what the sandbox has.
void check_network_unchanged(const Arguments& arguments, const Lease& lease);

// What the sandbox must have for it.
Network network_of(const network::Policy& policy);

// Gives a new sandbox its way out: through its gate, or by a proxy if it has none.
Task<> open_network(const Context& context, Lease& lease, network::Policy policy);

// What happened between its construction and traffic().
class NetworkOfRun {
 public:
  explicit NetworkOfRun(const Lease& lease);
  std::vector<Traffic> traffic() const;

 private:
  std::shared_ptr<Connectivity> way_;
  std::vector<Traffic> before_;
};

// `network` of a result: [{host, port, verdict, bytes}].
json::array network_fields(const std::vector<Traffic>& traffic);
json::object network_schema();

}  // namespace belljar::tools
