#include "serve/testing.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "base/error.h"
#include "serve/base64url.h"

namespace belljar::serve {

namespace {

std::string bytes_of(const BIGNUM* number, size_t size) {
  std::string bytes(size, '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(size));
  return bytes;
}

std::string parameter(EVP_PKEY* key, const char* name, size_t size) {
  BIGNUM* number = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &number) != 1) fail(Code::internal, "no {}", name);
  const std::string bytes =
      bytes_of(number, size != 0 ? size : static_cast<size_t>(BN_num_bytes(number)));
  BN_free(number);
  return bytes;
}

// r and s, 32 bytes each.
std::string plain(const std::string& der) {
  const auto* data = reinterpret_cast<const unsigned char*>(der.data());
  ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &data, static_cast<long>(der.size()));
  std::string bytes = bytes_of(ECDSA_SIG_get0_r(pair), 32) + bytes_of(ECDSA_SIG_get0_s(pair), 32);
  ECDSA_SIG_free(pair);
  return bytes;
}

}  // namespace

TestKey::TestKey(Kind kind, std::string id) : kind_{kind}, id_{std::move(id)} {
  EVP_PKEY* key = kind == Kind::p256 ? EVP_EC_gen("P-256")
                                     : EVP_RSA_gen(kind == Kind::weak_rsa ? 1024u : 2048u);
  if (key == nullptr) fail(Code::internal, "OpenSSL makes no key");
  key_ = {key, EVP_PKEY_free};
}

json::object TestKey::public_jwk() const {
  json::object jwk{{"kid", id_}, {"use", "sig"}};
  if (kind_ == Kind::p256) {
    jwk["kty"] = "EC";
    jwk["crv"] = "P-256";
    jwk["x"] = base64url(parameter(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X, 32));
    jwk["y"] = base64url(parameter(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y, 32));
  } else {
    jwk["kty"] = "RSA";
    jwk["n"] = base64url(parameter(key_.get(), OSSL_PKEY_PARAM_RSA_N, 0));
    jwk["e"] = base64url(parameter(key_.get(), OSSL_PKEY_PARAM_RSA_E, 0));
  }
  return jwk;
}

std::string TestKey::signature(std::string_view message) const {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free};
  std::string signature(1024, '\0');
  size_t size = signature.size();
  EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get());
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     reinterpret_cast<const unsigned char*>(message.data()), message.size()) != 1)
    fail(Code::internal, "OpenSSL does not sign");
  signature.resize(size);
  return kind_ == Kind::p256 ? plain(signature) : signature;
}

std::string TestKey::sign(const json::object& claims, const json::object& header) const {
  json::object whole{
      {"alg", kind_ == Kind::p256 ? "ES256" : "RS256"}, {"typ", "JWT"}, {"kid", id_}};
  for (const auto& member : header) {
    whole[member.key()] = member.value();
    if (member.value().is_null()) whole.erase(member.key());
  }
  const std::string message =
      base64url(json::serialize(whole)) + "." + base64url(json::serialize(claims));
  return message + "." + base64url(signature(message));
}

std::string jwk_set(std::initializer_list<json::object> keys) {
  json::array list;
  for (const json::object& key : keys) list.push_back(key);
  return json::serialize(json::object{{"keys", list}});
}

}  // namespace belljar::serve
