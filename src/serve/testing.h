#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

// For unit tests only.
namespace belljar::serve {

// A key pair of an issuer that signs what the test wants.
class TestKey {
 public:
  enum class Kind { rsa, weak_rsa, p256 };
  TestKey(Kind kind, std::string id);

  json::object public_jwk() const;

  // A JWT. `header` replaces members of the usual one; a member that is null is left out.
  std::string sign(const json::object& claims, const json::object& header = {}) const;

  // A signature over the text, as JWTs have it.
  std::string signature(std::string_view message) const;

  const std::string& id() const { return id_; }

 private:
  Kind kind_;
  std::string id_;
  std::shared_ptr<evp_pkey_st> key_;
};

std::string jwk_set(std::initializer_list<json::object> keys);

}  // namespace belljar::serve
