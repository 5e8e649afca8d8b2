#pragma once

#include <string>

// For unit tests only.
namespace belljar::net {

struct TestCertificate {
  std::string certificate;  // PEM
  std::string key;          // PEM
};

// A certificate authority of its own, made anew by every test that needs one.
class TestAuthority {
 public:
  TestAuthority();

  const std::string& certificate() const { return self_.certificate; }

  // For these names: "DNS:localhost,IP:127.0.0.1".
  TestCertificate issue(const std::string& names) const;

 private:
  TestCertificate self_;
};

}  // namespace belljar::net
