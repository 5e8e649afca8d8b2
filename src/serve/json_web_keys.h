#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace belljar::serve {

enum class SignatureAlgorithm { rs256, es256 };

// A public key of an issuer, and the one algorithm that it is good for.
struct JsonWebKey {
  std::string id;  // "kid"; "" without
  SignatureAlgorithm algorithm = SignatureAlgorithm::rs256;
  std::shared_ptr<evp_pkey_st> key;
};

// The keys of a JWK set (RFC 7517) that signatures can be checked with: RSA from 2048 to 8192 bits,
// and P-256. Others (symmetric ones, for encryption, for other algorithms) are left out.
// Error{invalid} if the text is no such set.
std::vector<JsonWebKey> parse_json_web_keys(std::string_view text);

// True if `signature` is this key's over `message`. That of ES256 has the form of RFC 7518: r and
// s, 32 bytes each.
bool is_signed_by(const JsonWebKey& key, std::string_view message, std::string_view signature);

}  // namespace belljar::serve
