#include "serve/json_web_keys.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "serve/base64url.h"

namespace belljar::serve {

namespace {

constexpr size_t kMostKeys = 64;
constexpr int kLeastBits = 2048;
constexpr int kMostBits = 8192;
constexpr size_t kCoordinate = 32;  // bytes, of P-256

using Key = std::shared_ptr<EVP_PKEY>;
using Number = std::unique_ptr<BIGNUM, void (*)(BIGNUM*)>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, void (*)(OSSL_PARAM_BLD*)>;
using Parameters = std::unique_ptr<OSSL_PARAM, void (*)(OSSL_PARAM*)>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, void (*)(EVP_PKEY_CTX*)>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::optional<std::string> decoded(const json::object& jwk, std::string_view name) {
  const json::string* text = find_string(jwk, name);
  return text != nullptr ? parse_base64url(*text) : std::nullopt;
}

Number number(std::string_view bytes) {
  return {BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr), BN_free};
}

// Null if OpenSSL does not take them for a public key.
Key make_key(const char* type, const Builder& builder) {
  const Parameters parameters{OSSL_PARAM_BLD_to_param(builder.get()), OSSL_PARAM_free};
  const KeyContext context{EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr), EVP_PKEY_CTX_free};
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) <= 0 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) <= 0) {
    return nullptr;
  }
  Key owned{key, EVP_PKEY_free};
  const KeyContext check{EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr), EVP_PKEY_CTX_free};
  return check && EVP_PKEY_public_check(check.get()) == 1 ? owned : nullptr;
}

Key rsa_key(const json::object& jwk) {
  const auto modulus = decoded(jwk, "n");
  const auto exponent = decoded(jwk, "e");
  if (!modulus || !exponent || exponent->empty() || exponent->size() > 4) return nullptr;
  const Number n = number(*modulus);
  const Number e = number(*exponent);
  if (!n || !e || BN_num_bits(n.get()) < kLeastBits || BN_num_bits(n.get()) > kMostBits)
    return nullptr;
  const Builder builder{OSSL_PARAM_BLD_new(), OSSL_PARAM_BLD_free};
  if (!builder || OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return nullptr;
  }
  return make_key("RSA", builder);
}

Key p256_key(const json::object& jwk) {
  const json::string* curve = find_string(jwk, "crv");
  const auto x = decoded(jwk, "x");
  const auto y = decoded(jwk, "y");
  if (curve == nullptr || *curve != "P-256" || !x || !y || x->size() != kCoordinate ||
      y->size() != kCoordinate) {
    return nullptr;
  }
  const std::string point = "\x04" + *x + *y;
  const Builder builder{OSSL_PARAM_BLD_new(), OSSL_PARAM_BLD_free};
  if (!builder ||
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) !=
          1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1) {
    return nullptr;
  }
  return make_key("EC", builder);
}

bool is_absent_or(const json::object& jwk, std::string_view name, std::string_view value) {
  const json::value* member = find(jwk, name);
  return member == nullptr || (member->is_string() && member->get_string() == value);
}

std::optional<JsonWebKey> read_key(const json::object& jwk) {
  const json::string* type = find_string(jwk, "kty");
  if (type == nullptr || !is_absent_or(jwk, "use", "sig")) return std::nullopt;
  JsonWebKey key;
  if (const json::string* id = find_string(jwk, "kid")) key.id = *id;
  if (*type == "RSA" && is_absent_or(jwk, "alg", "RS256")) {
    key.algorithm = SignatureAlgorithm::rs256;
    key.key = rsa_key(jwk);
  } else if (*type == "EC" && is_absent_or(jwk, "alg", "ES256")) {
    key.algorithm = SignatureAlgorithm::es256;
    key.key = p256_key(jwk);
  }
  return key.key ? std::optional{std::move(key)} : std::nullopt;
}

// OpenSSL wants r and s as ASN.1. Empty if they are not that.
std::string as_der(std::string_view signature) {
  if (signature.size() != 2 * kCoordinate) return "";
  const std::unique_ptr<ECDSA_SIG, void (*)(ECDSA_SIG*)> pair{ECDSA_SIG_new(), ECDSA_SIG_free};
  Number r = number(signature.substr(0, kCoordinate));
  Number s = number(signature.substr(kCoordinate));
  if (!pair || !r || !s || ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return "";
  static_cast<void>(r.release());  // they are the pair's now
  static_cast<void>(s.release());
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &der);
  if (size <= 0) return "";
  std::string result{reinterpret_cast<const char*>(der), static_cast<size_t>(size)};
  OPENSSL_free(der);
  return result;
}

}  // namespace

std::vector<JsonWebKey> parse_json_web_keys(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  const json::object* set = error ? nullptr : value.if_object();
  const json::value* list = set != nullptr ? find(*set, "keys") : nullptr;
  if (list == nullptr || !list->is_array()) fail(Code::invalid, "it is no set of JSON Web Keys");
  std::vector<JsonWebKey> keys;
  for (const json::value& element : list->get_array()) {
    if (keys.size() == kMostKeys) break;
    const json::object* jwk = element.if_object();
    if (jwk == nullptr) continue;
    if (auto key = read_key(*jwk)) keys.push_back(std::move(*key));
  }
  return keys;
}

bool is_signed_by(const JsonWebKey& key, std::string_view message, std::string_view signature) {
  const bool is_ec = key.algorithm == SignatureAlgorithm::es256;
  const std::string der = is_ec ? as_der(signature) : std::string{signature};
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free};
  // The default padding of RSA keys is that of RS256, PKCS #1 v1.5.
  return !der.empty() && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.key.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(der), der.size(), bytes_of(message),
                          message.size()) == 1;
}

}  // namespace belljar::serve
