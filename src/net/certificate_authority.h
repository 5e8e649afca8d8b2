#pragma once

#include <memory>
#include <string>
#include <vector>

struct evp_pkey_st;  // OpenSSL's EVP_PKEY
struct x509_st;      // and X509

namespace belljar::net {

// A certificate and its private key, both PEM.
struct Credentials {
  std::string certificate;
  std::string key;
};

// A certificate authority of its own. Its key is made with it and exists nowhere else: who trusts
// it trusts this process, as long as it runs.
class CertificateAuthority {
 public:
  // `name` is what people see who look at its certificates. Unless `domains` is empty, what it
  // signs is valid for these names and those beneath them only, whoever gets hold of its key.
  explicit CertificateAuthority(const std::string& name,
                                const std::vector<std::string>& domains = {});
  ~CertificateAuthority();

  // PEM: whom to trust.
  const std::string& certificate() const { return pem_; }

  // For a server with these names: "DNS:localhost,IP:127.0.0.1".
  Credentials issue(const std::string& names) const;

 private:
  std::unique_ptr<evp_pkey_st, void (*)(evp_pkey_st*)> key_;
  std::unique_ptr<x509_st, void (*)(x509_st*)> self_;
  std::string pem_;
};

}  // namespace belljar::net
