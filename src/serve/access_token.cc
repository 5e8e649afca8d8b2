#include "serve/access_token.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "serve/base64url.h"

namespace belljar::serve {

namespace {

constexpr size_t kMostBytes = 16u << 10;
constexpr size_t kMostSubject = 256;

std::optional<json::object> parse_object(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.as_object());
}

// A number of seconds since 1970, fractions included.
std::optional<double> time_of(const json::object& claims, std::string_view name) {
  const json::value* value = find(claims, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

bool names_audience(const json::object& claims, std::string_view audience) {
  const json::value* member = find(claims, "aud");
  if (member == nullptr) return false;
  const auto is_it = [audience](const json::value& value) {
    return value.is_string() && value.get_string() == audience;
  };
  if (!member->is_array()) return is_it(*member);
  const json::array& list = member->get_array();
  return std::any_of(list.begin(), list.end(), is_it);
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// RFC 9068 has "scope", one text; some issuers have "scp", which may be a list.
std::vector<std::string> scopes_of(const json::object& claims) {
  std::vector<std::string> scopes;
  for (const char* name : {"scope", "scp"}) {
    const json::value* member = find(claims, name);
    if (member == nullptr) continue;
    if (member->is_string()) {
      for (std::string& word : split_words(member->get_string())) scopes.push_back(std::move(word));
    } else if (member->is_array()) {
      for (const json::value& word : member->get_array()) {
        if (word.is_string()) scopes.emplace_back(word.get_string());
      }
    }
  }
  return scopes;
}

bool is_access_token_type(const json::object& header) {
  const json::value* member = find(header, "typ");
  if (member == nullptr) return true;
  if (!member->is_string()) return false;
  std::string type{member->get_string()};
  std::transform(type.begin(), type.end(), type.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return type == "jwt" || type == "at+jwt" || type == "application/at+jwt";
}

SignatureAlgorithm algorithm_of(const json::object& header) {
  const json::string* name = find_string(header, "alg");
  if (name != nullptr && *name == "RS256") return SignatureAlgorithm::rs256;
  if (name != nullptr && *name == "ES256") return SignatureAlgorithm::es256;
  fail(Code::invalid, "the token must be signed with RS256 or ES256");
}

std::string subject_of(const json::object& claims) {
  const json::string* subject = find_string(claims, "sub");
  if (subject == nullptr || subject->empty() || subject->size() > kMostSubject ||
      !is_utf8(*subject))
    fail(Code::denied, "the token names no subject (sub)");
  return std::string{*subject};
}

void check_times(const json::object& claims, const TokenRules& rules,
                 std::chrono::system_clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now.time_since_epoch()).count();
  const auto leeway = static_cast<double>(rules.leeway.count());
  const auto expiry = time_of(claims, "exp");
  if (!expiry) fail(Code::denied, "the token has no time of expiry (exp)");
  if (seconds >= *expiry + leeway) fail(Code::denied, "the token has expired");
  const bool has_start = claims.contains("nbf");
  const auto start = time_of(claims, "nbf");
  if (has_start && (!start || seconds < *start - leeway))
    fail(Code::denied, "the token is not valid yet");
}

}  // namespace

bool AccessToken::has_scope(std::string_view scope) const {
  return std::find(scopes.begin(), scopes.end(), scope) != scopes.end();
}

UncheckedToken take_apart(std::string_view token) {
  if (token.size() > kMostBytes) fail(Code::invalid, "the token is too long");
  const size_t first = token.find('.');
  const size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos)
    fail(Code::invalid, "the token is neither one of this server's nor a signed JWT");
  const auto header_text = parse_base64url(token.substr(0, first));
  const auto claims = parse_base64url(token.substr(first + 1, second - first - 1));
  const auto signature = parse_base64url(token.substr(second + 1));
  const auto header = header_text ? parse_object(*header_text) : std::nullopt;
  if (!header || !claims || !signature) fail(Code::invalid, "the token is not a well-formed JWT");
  UncheckedToken result;
  result.algorithm = algorithm_of(*header);
  // What must be understood, and what we would not: RFC 7515, 4.1.11.
  if (header->contains("crit") || header->contains("b64"))
    fail(Code::invalid, "the token has extensions that this server does not know");
  if (!is_access_token_type(*header)) fail(Code::invalid, "the token is not an access token");
  if (const json::string* id = find_string(*header, "kid")) result.key_id = *id;
  result.message = token.substr(0, second);
  result.signature = *signature;
  result.claims = *claims;
  return result;
}

const JsonWebKey* find_key(const std::vector<JsonWebKey>& keys, const UncheckedToken& token) {
  const JsonWebKey* found = nullptr;
  for (const JsonWebKey& key : keys) {
    if (key.algorithm != token.algorithm) continue;
    if (!token.key_id.empty() && key.id == token.key_id) return &key;
    if (!token.key_id.empty()) continue;
    if (found != nullptr) return nullptr;  // which one is meant is not said
    found = &key;
  }
  return found;
}

AccessToken check_token(const UncheckedToken& token, const JsonWebKey& key, const TokenRules& rules,
                        std::chrono::system_clock::time_point now) {
  if (key.algorithm != token.algorithm || !is_signed_by(key, token.message, token.signature))
    fail(Code::denied, "the signature of the token is wrong");
  const auto claims = parse_object(token.claims);
  if (!claims) fail(Code::denied, "the token has no claims");
  const json::string* issuer = find_string(*claims, "iss");
  if (issuer == nullptr || *issuer != rules.issuer)
    fail(Code::denied, "the token is from another issuer");
  if (!names_audience(*claims, rules.audience))
    fail(Code::denied, "the token was issued for another server (aud)");
  check_times(*claims, rules, now);
  return AccessToken{subject_of(*claims), scopes_of(*claims)};
}

}  // namespace belljar::serve
