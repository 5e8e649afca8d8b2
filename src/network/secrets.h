#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "net/certificate_authority.h"
#include "net/tls.h"
#include "network/policy.h"

namespace belljar::network {

// Something that programs may use but not know: they have a placeholder, and belljar puts the value
// into one header of requests to certain hosts.
struct Secret {
  struct Host {
    std::string name;  // in canonical form
    uint16_t port = 443;

    auto operator<=>(const Host&) const = default;
  };
  std::string name;
  std::vector<Host> hosts;
  std::string header = "Authorization";
  std::string variable;  // of a program's environment, where it finds the placeholder
  std::string value;

  std::string placeholder() const { return "belljar-secret-" + name; }
};

// Where programs find the certificate of the authority below.
constexpr const char* kAuthorityPath = "/etc/ssl/belljar.pem";

// All secrets, and what is needed to stand between programs and their hosts: an authority that only
// programs trust, whose key only this object has.
class Secrets {
 public:
  // At least one. `trust` says whom belljar believes to be one of their hosts.
  Secrets(std::vector<Secret> secrets, const net::TlsSettings& trust);

  bool has_port(uint16_t port) const { return ports_.contains(port); }

  // Those of a host; none if it has none.
  std::vector<const Secret*> of(const Secret::Host& host) const;

  // PEM: the authority, for programs.
  const std::string& authority() const { return authority_.certificate(); }

  // With what to be a host that has secrets, and with what to find out whether another is.
  asio::ssl::context& server(const Secret::Host& host) const { return *servers_.at(host.name); }
  asio::ssl::context& client() const { return *client_; }

  // The environment of programs that have this policy.
  std::map<std::string, std::string> variables(const Policy& policy) const;

 private:
  std::vector<Secret> secrets_;
  std::set<uint16_t> ports_;
  net::CertificateAuthority authority_;
  std::map<std::string, std::shared_ptr<asio::ssl::context>> servers_;  // by name
  std::shared_ptr<asio::ssl::context> client_;
};

}  // namespace belljar::network
