#include "network/secrets.h"

#include <algorithm>
#include <boost/asio/ssl/context.hpp>

namespace belljar::network {

namespace {

std::vector<std::string> names_of(const std::vector<Secret>& secrets) {
  std::set<std::string> names;
  for (const Secret& secret : secrets) {
    for (const Secret::Host& host : secret.hosts) names.insert(host.name);
  }
  return {names.begin(), names.end()};
}

}  // namespace

Secrets::Secrets(std::vector<Secret> secrets, const net::TlsSettings& trust)
    : secrets_{std::move(secrets)},
      authority_{"belljar, for programs in its sandboxes", names_of(secrets_)},
      client_{net::make_tls_client(trust)} {
  for (const std::string& name : names_of(secrets_)) {
    servers_.emplace(name, net::make_tls_server(authority_.issue("DNS:" + name)));
  }
  for (const Secret& secret : secrets_) {
    for (const Secret::Host& host : secret.hosts) ports_.insert(host.port);
  }
}

std::vector<const Secret*> Secrets::of(const Secret::Host& host) const {
  std::vector<const Secret*> found;
  for (const Secret& secret : secrets_) {
    if (std::find(secret.hosts.begin(), secret.hosts.end(), host) != secret.hosts.end())
      found.push_back(&secret);
  }
  return found;
}

std::map<std::string, std::string> Secrets::variables(const Policy& policy) const {
  std::map<std::string, std::string> variables;
  for (const Secret& secret : secrets_) {
    const auto is_allowed = [&policy](const Secret::Host& host) {
      return policy.allows_name(host.name);
    };
    if (std::any_of(secret.hosts.begin(), secret.hosts.end(), is_allowed))
      variables[secret.variable] = secret.placeholder();
  }
  if (!variables.empty()) variables["NODE_EXTRA_CA_CERTS"] = kAuthorityPath;
  return variables;
}

}  // namespace belljar::network
