#include "serve/gatekeeper.h"

#include <fmt/format.h>

namespace belljar::serve {

namespace {

using Verdict = std::variant<Identity, Refusal>;

constexpr const char* kInvalidToken = "invalid_token";

// A quoted string of a header: what could end it, or the line, is not in it.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const bool is_plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
    result += is_plain ? c : '\'';
  }
  return result + "\"";
}

}  // namespace

Identity named_owner(const std::string& name) {
  return {"token:" + name, name, true};
}

Identity owner_of_subject(const std::string& subject) {
  return {"oauth:" + subject, subject, false};
}

std::string shown_owner(const std::string& key) {
  constexpr std::string_view kNamed = "token:";
  return key.starts_with(kNamed) ? key.substr(kNamed.size()) : key;
}

Gatekeeper::Gatekeeper(BearerTokens tokens, OAuthRules oauth, Issuer* issuer, const Clock& clock)
    : tokens_{std::move(tokens)}, oauth_{std::move(oauth)}, issuer_{issuer}, clock_{clock} {}

Gatekeeper Gatekeeper::open_to_all(const Clock& clock) {
  Gatekeeper gatekeeper{BearerTokens{}, OAuthRules{}, nullptr, clock};
  gatekeeper.is_open_ = true;
  return gatekeeper;
}

Task<Verdict> Gatekeeper::admit(std::vector<std::string> authorization) {
  if (is_open_) co_return named_owner("everybody");
  if (authorization.empty()) co_return Refusal{401, "", "a bearer token is needed"};
  if (authorization.size() > 1)
    co_return Refusal{400, "invalid_request", "there is more than one header Authorization"};
  const auto token = bearer_of(authorization.front());
  if (!token)
    co_return Refusal{401, kInvalidToken, "the header Authorization holds no bearer token"};
  if (const auto owner = tokens_.owner_of(*token)) co_return named_owner(*owner);
  if (issuer_ == nullptr) co_return Refusal{401, kInvalidToken, "this token is not known here"};
  std::string jwt{*token};
  co_return co_await admit_by_issuer(std::move(jwt));
}

Task<Verdict> Gatekeeper::admit_by_issuer(std::string token) {
  Refusal refusal{401, kInvalidToken, ""};
  try {
    const UncheckedToken parts = take_apart(token);
    const JsonWebKey key = co_await issuer_->key_of(parts);
    const AccessToken access = check_token(parts, key, oauth_.token, clock_.wall());
    for (const std::string& scope : oauth_.scopes) {
      if (!access.has_scope(scope))
        co_return Refusal{403, "insufficient_scope", "the token lacks the scope " + scope};
    }
    co_return owner_of_subject(access.subject);
  } catch (const Error& e) {
    if (e.code() == Code::unavailable) refusal = Refusal{503, "temporarily_unavailable", ""};
    refusal.description = e.what();
  }
  co_return refusal;
}

std::string challenge(const Refusal& refusal, const std::vector<std::string>& scopes,
                      const std::string& metadata) {
  std::vector<std::string> parts;
  if (!refusal.error.empty()) {
    parts.push_back("error=" + quoted(refusal.error));
    parts.push_back("error_description=" + quoted(refusal.description));
  }
  if (!scopes.empty())
    parts.push_back("scope=" + quoted(fmt::format("{}", fmt::join(scopes, " "))));
  if (!metadata.empty()) parts.push_back("resource_metadata=" + quoted(metadata));
  if (parts.empty()) return "Bearer";
  return fmt::format("Bearer {}", fmt::join(parts, ", "));
}

json::object body_of(const Refusal& refusal) {
  return {{"error", refusal.error.empty() ? kInvalidToken : refusal.error},
          {"error_description", refusal.description}};
}

}  // namespace belljar::serve
