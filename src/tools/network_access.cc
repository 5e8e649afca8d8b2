#include "tools/network_access.h"

#include <algorithm>

#include "base/error.h"
#include "net/http_listener.h"
#include "tools/schema.h"

namespace belljar::tools {

namespace {

using network::Policy;

constexpr const char* kForms =
    "\"none\", \"internet\" (public addresses), or \"allow:\" and a list of the hosts that it "
    "needs, "
    "such as \"allow:example.com,*.example.org:8443\"";

std::string_view name_of(Traffic::Verdict verdict) {
  switch (verdict) {
    case Traffic::Verdict::allowed: return "allowed";
    case Traffic::Verdict::blocked: return "blocked";
    case Traffic::Verdict::failed: return "failed";
  }
  return "";
}

}  // namespace

Policy most_network(const Settings& settings) {
  return settings.max_network.value_or(settings.network);
}

Policy usual_network(const Settings& settings) {
  const Policy most = most_network(settings);
  return settings.network.is_within(most) ? settings.network : most;
}

bool reaches_outside(const Settings& settings) {
  return most_network(settings).kind() != Policy::Kind::none;
}

Parameter network_parameter(const Settings& settings) {
  return Parameter{
      .name = "network",
      .description = fmt::format("What the program may reach: {}. At most \"{}\". It never reaches "
                                 "the host, its local network or other sandboxes.{}",
                                 kForms, most_network(settings).text(),
                                 settings.secrets.empty() ? "" : " " + settings.secrets),
      .fallback = json::value(usual_network(settings).text())};
}

Parameter unchanged_network_parameter() {
  return Parameter{.name = "network",
                   .description =
                       "What programs of the sandbox may reach, as given to sandbox_initialize; it "
                       "cannot change."};
}

namespace {

Policy parse(const std::string& text) {
  try {
    return Policy::parse(text);
  } catch (const Error& e) {
    fail(Code::invalid, "argument \"network\": {}", e.what());
  }
}

}  // namespace

Policy read_network(const Arguments& arguments, const Settings& settings) {
  const Policy wanted = parse(arguments.string("network"));
  const Policy most = most_network(settings);
  if (!wanted.is_within(most)) {
    fail(Code::invalid,
         "argument \"network\" is \"{}\", but the operator allows at most \"{}\"; ask for less, or "
         "have the operator raise max-network",
         wanted.text(), most.text());
  }
  return wanted;
}

void check_network_unchanged(const Arguments& arguments, const Lease& lease) {
  if (!arguments.has("network")) return;
  const std::string wanted = parse(arguments.string("network")).text();
  const std::string is = lease.connectivity() ? lease.connectivity()->policy() : "none";
  if (wanted == is) return;
  fail(Code::invalid,
       "argument \"network\" is \"{}\", but that of the sandbox is \"{}\" and cannot change; leave "
       "it out, or give it to sandbox_initialize when making a sandbox",
       wanted, is);
}

Network network_of(const Policy& policy) {
  return policy.kind() == Policy::Kind::none ? Network::none : Network::gated;
}

Task<> open_network(const Context& context, Lease& lease, Policy policy) {
  if (lease.spec().network == Network::none) co_return;
  std::map<std::string, std::string> variables = context.outside.variables(policy);
  Gate gate = lease.sandbox().take_gate();
  if (gate.packets) {
    lease.set_connectivity(context.outside.connect(std::move(gate), std::move(policy)));
  } else {
    Fd listener = co_await lease.listen();
    variables.merge(network::proxy_variables(net::listening_port(listener.get())));
    lease.set_connectivity(context.outside.serve_proxy(std::move(listener), std::move(policy)));
  }
  lease.environment().merge(variables);
}

NetworkOfRun::NetworkOfRun(const Lease& lease) : way_{lease.connectivity()} {
  if (way_) before_ = way_->traffic();
}

std::vector<Traffic> NetworkOfRun::traffic() const {
  std::vector<Traffic> changed;
  if (!way_) return changed;
  std::vector<Traffic> now = way_->traffic();
  for (size_t i = 0; i < now.size(); ++i) {  // entries are only added, and keep their order
    if (i < before_.size()) {
      now[i].attempts -= before_[i].attempts;
      now[i].bytes -= before_[i].bytes;
      now[i].over_own_limit -= before_[i].over_own_limit;
      now[i].over_shared_limit -= before_[i].over_shared_limit;
    }
    if (now[i].attempts > 0 || now[i].bytes > 0) changed.push_back(std::move(now[i]));
  }
  return changed;
}

json::array network_fields(const std::vector<Traffic>& traffic) {
  json::array list;
  for (const Traffic& entry : traffic) {
    json::object fields;
    fields["host"] = entry.host;
    if (entry.port != 0) fields["port"] = entry.port;
    fields["verdict"] = name_of(entry.verdict);
    fields["bytes"] = entry.bytes;
    list.emplace_back(std::move(fields));
  }
  return list;
}

json::object network_schema() {
  json::object properties;
  properties["host"] = of_type("string");
  properties["port"] = of_type("integer");
  properties["verdict"] = of_type("string");
  properties["bytes"] = of_type("integer");
  json::object entry = of_type("object");
  entry["properties"] = std::move(properties);
  entry["required"] = json::array{"host", "verdict", "bytes"};
  return array_of(std::move(entry));
}

}  // namespace belljar::tools
