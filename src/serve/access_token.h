#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/json_web_keys.h"

namespace belljar::serve {

// What an access token of OAuth must say to be good here.
struct TokenRules {
  std::string issuer;               // exactly
  std::string audience;             // one of those that it names
  std::chrono::seconds leeway{30};  // for clocks that differ
};

// What one said, once its signature and the rules were checked.
struct AccessToken {
  std::string subject;
  std::vector<std::string> scopes;

  bool has_scope(std::string_view scope) const;
};

// A token taken apart: a JWT (RFC 7519) with RS256 or ES256. Nothing in it is believed yet.
struct UncheckedToken {
  SignatureAlgorithm algorithm = SignatureAlgorithm::rs256;
  std::string key_id;   // "kid"; "" without
  std::string message;  // that is signed
  std::string signature;
  std::string claims;  // JSON
};

// Error{invalid} says, for the client, what is wrong with it.
UncheckedToken take_apart(std::string_view token);

// The key that this token names: by id and algorithm; without an id the only one of that algorithm.
// nullptr if there is none.
const JsonWebKey* find_key(const std::vector<JsonWebKey>& keys, const UncheckedToken& token);

// Checks the signature, then the claims: issuer, audience, expiry, subject. Error{denied} says, for
// the client, what is wrong.
AccessToken check_token(const UncheckedToken& token, const JsonWebKey& key, const TokenRules& rules,
                        std::chrono::system_clock::time_point now);

}  // namespace belljar::serve
