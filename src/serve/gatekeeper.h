#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "serve/bearer_tokens.h"
#include "serve/issuer.h"

namespace belljar::serve {

// Who calls. Owners of different kinds never have the same key.
struct Identity {
  std::string owner;      // the key of everything that belongs to them
  std::string name;       // for people
  bool is_named = false;  // by the operator; otherwise by the issuer
};

// Why somebody is not let in, in the words of RFC 6750.
struct Refusal {
  int status = 401;
  std::string error;        // "invalid_token", …; "" if there was no token at all
  std::string description;  // for people
};

struct OAuthRules {
  TokenRules token;
  std::vector<std::string> scopes;  // all are needed
};

// Decides by the header Authorization who calls: by tokens of the operator, by access tokens of an
// issuer, or, where everybody may, nobody in particular.
class Gatekeeper {
 public:
  // `issuer` may be null; `oauth` counts only with it. Both references must outlive this.
  Gatekeeper(BearerTokens tokens, OAuthRules oauth, Issuer* issuer, const Clock& clock);

  // For those who need no token: everybody is this owner.
  static Gatekeeper open_to_all(const Clock& clock);

  // `authorization`: the values of all headers of that name.
  Task<std::variant<Identity, Refusal>> admit(std::vector<std::string> authorization);

 private:
  Task<std::variant<Identity, Refusal>> admit_by_issuer(std::string token);

  BearerTokens tokens_;
  OAuthRules oauth_;
  Issuer* issuer_;
  const Clock& clock_;
  bool is_open_ = false;
};

// The keys of owners.
Identity named_owner(const std::string& name);
Identity owner_of_subject(const std::string& subject);

// A key as the operator is shown it: the name of one whom the configuration names.
std::string shown_owner(const std::string& key);

// The value of WWW-Authenticate. `metadata` is the address of the protected resource's metadata, ""
// if there is none.
std::string challenge(const Refusal& refusal, const std::vector<std::string>& scopes,
                      const std::string& metadata);

// {"error": …, "error_description": …}
json::object body_of(const Refusal& refusal);

}  // namespace belljar::serve
