#include "serve/access_token.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/error.h"
#include "serve/base64url.h"
#include "serve/testing.h"

namespace belljar::serve {
namespace {

using Kind = TestKey::Kind;
using std::chrono::seconds;

constexpr int64_t kNow = 1'800'000'000;

const TestKey& rsa() {
  static const TestKey key{Kind::rsa, "rsa"};
  return key;
}
const TestKey& other_rsa() {
  static const TestKey key{Kind::rsa, "other"};
  return key;
}
const TestKey& p256() {
  static const TestKey key{Kind::p256, "ec"};
  return key;
}

std::vector<JsonWebKey> keys() {
  return parse_json_web_keys(
      jwk_set({rsa().public_jwk(), other_rsa().public_jwk(), p256().public_jwk()}));
}

json::object claims() {
  return {{"iss", "https://issuer.example"},
          {"aud", "https://server.example/mcp"},
          {"sub", "somebody"},
          {"exp", kNow + 60},
          {"scope", "mcp other"}};
}

json::object claims_with(std::string_view name, json::value value) {
  json::object changed = claims();
  changed[name] = std::move(value);
  return changed;
}

// The subject, or "" and why not.
std::string subject(const std::string& token, std::string* why = nullptr) {
  const TokenRules rules{"https://issuer.example", "https://server.example/mcp"};
  try {
    const UncheckedToken parts = take_apart(token);
    const std::vector<JsonWebKey> all = keys();
    const JsonWebKey* key = find_key(all, parts);
    if (key == nullptr) return "";
    return check_token(parts, *key, rules, std::chrono::system_clock::time_point{seconds{kNow}})
        .subject;
  } catch (const Error& e) {
    if (why != nullptr) *why = e.what();
    return "";
  }
}

TEST(AccessToken, BothAlgorithmsAreTaken) {
  EXPECT_EQ(subject(rsa().sign(claims())), "somebody");
  EXPECT_EQ(subject(p256().sign(claims())), "somebody");
  EXPECT_EQ(subject(rsa().sign(claims(), {{"typ", "at+JWT"}})), "somebody");
  EXPECT_EQ(subject(rsa().sign(claims(), {{"typ", nullptr}})), "somebody");
}

TEST(AccessToken, AudiencesMayBeAList) {
  EXPECT_EQ(subject(rsa().sign(claims_with("aud", json::array{"x", "https://server.example/mcp"}))),
            "somebody");
  EXPECT_EQ(subject(rsa().sign(claims_with("aud", json::array{"x"}))), "");
  EXPECT_EQ(subject(rsa().sign(claims_with("aud", json::array{}))), "");
}

TEST(AccessToken, ClaimsThatAreWrongAreRefused) {
  struct Wrong {
    const char* name;
    json::value value;
  };
  const Wrong wrong[] = {{"iss", "https://issuer.example/"},
                         {"iss", nullptr},
                         {"aud", "https://server.example"},
                         {"aud", nullptr},
                         {"exp", kNow - 31},
                         {"exp", nullptr},
                         {"exp", "1900000000"},
                         {"nbf", kNow + 31},
                         {"nbf", "soon"},
                         {"sub", ""},
                         {"sub", 7},
                         {"sub", json::string(257, 'x')}};
  for (const auto& [name, value] : wrong) {
    std::string why;
    EXPECT_EQ(subject(rsa().sign(claims_with(name, value)), &why), "") << name << value;
    EXPECT_NE(why, "");
  }
}

TEST(AccessToken, ClocksMayDifferALittle) {
  EXPECT_EQ(subject(rsa().sign(claims_with("exp", kNow - 29))), "somebody");
  EXPECT_EQ(subject(rsa().sign(claims_with("nbf", kNow + 29))), "somebody");
}

TEST(AccessToken, WithoutASignatureOfTheRightKeyNothingIsBelieved) {
  const std::string token = rsa().sign(claims());
  const std::string head = token.substr(0, token.rfind('.') + 1);
  EXPECT_EQ(subject(head), "");
  EXPECT_EQ(subject(head + base64url(other_rsa().signature(head.substr(0, head.size() - 1)))), "");
  EXPECT_EQ(subject(other_rsa().sign(claims(), {{"kid", "rsa"}})), "");
  std::string changed = token;
  changed[token.find('.') + 3] ^= 1;
  EXPECT_EQ(subject(changed), "");
  EXPECT_EQ(subject(p256().sign(claims(), {{"kid", "rsa"}})), "");
}

TEST(AccessToken, OtherAlgorithmsAreRefusedWhateverTheySign) {
  std::string why;
  for (const char* name : {"none", "None", "HS256", "RS384", "PS256", "ES384", "EdDSA", ""}) {
    EXPECT_EQ(subject(rsa().sign(claims(), {{"alg", name}}), &why), "") << name;
    EXPECT_NE(why.find("RS256 or ES256"), std::string::npos);
  }
  EXPECT_EQ(subject(rsa().sign(claims(), {{"alg", nullptr}})), "");
  EXPECT_EQ(subject(rsa().sign(claims(), {{"alg", json::array{"RS256"}}})), "");
}

// The classic confusion: the public key, which everybody knows, as the secret of an HMAC.
TEST(AccessToken, ThePublicKeyIsNoSecretForHs256) {
  const std::string secret = json::serialize(rsa().public_jwk());
  const std::string head =
      base64url(R"({"alg":"HS256","kid":"rsa"})") + "." + base64url(json::serialize(claims()));
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(head.data()), head.size(), mac, &size);
  EXPECT_EQ(subject(head + "." + base64url({reinterpret_cast<char*>(mac), size})), "");
}

TEST(AccessToken, AnAlgorithmNeedsAKeyOfItsKind) {
  EXPECT_EQ(subject(rsa().sign(claims(), {{"alg", "ES256"}})), "");
  EXPECT_EQ(subject(p256().sign(claims(), {{"alg", "RS256"}})), "");
}

TEST(AccessToken, KeysAreFoundByTheirId) {
  EXPECT_EQ(subject(rsa().sign(claims(), {{"kid", "nope"}})), "");
  // Without an id only where there is no choice.
  EXPECT_EQ(subject(rsa().sign(claims(), {{"kid", nullptr}})), "");
  EXPECT_EQ(subject(p256().sign(claims(), {{"kid", nullptr}})), "somebody");
}

TEST(AccessToken, HeadersThatMustBeUnderstoodAreNot) {
  EXPECT_EQ(subject(rsa().sign(claims(), {{"crit", json::array{"x"}}, {"x", 1}})), "");
  EXPECT_EQ(subject(rsa().sign(claims(), {{"b64", false}})), "");
  EXPECT_EQ(subject(rsa().sign(claims(), {{"typ", "logout+jwt"}})), "");
}

TEST(AccessToken, WhatIsNoTokenIsRefusedAndNeverThrowsAnythingElse) {
  const std::string token = rsa().sign(claims());
  for (size_t i = 0; i < token.size(); i += 7) EXPECT_EQ(subject(token.substr(0, i)), "");
  for (const std::string& bad :
       {std::string{"."}, std::string{".."}, std::string{"..."}, std::string{"a.b.c"}, token + ".",
        "." + token, token + "=", std::string(20'000, 'a'),
        base64url("[]") + "." + base64url("{}") + ".",
        base64url(std::string(5000, '[')) + ".e30."}) {
    EXPECT_EQ(subject(bad), "");
  }
}

TEST(AccessToken, ScopesHaveTwoForms) {
  const auto scopes = [](const json::object& more) {
    const UncheckedToken parts = take_apart(p256().sign(more));
    const auto all = keys();
    return check_token(parts, *find_key(all, parts),
                       TokenRules{"https://issuer.example", "https://server.example/mcp"},
                       std::chrono::system_clock::time_point{seconds{kNow}});
  };
  EXPECT_TRUE(scopes(claims()).has_scope("mcp"));
  EXPECT_FALSE(scopes(claims()).has_scope("mc"));
  EXPECT_FALSE(scopes(claims_with("scope", nullptr)).has_scope("mcp"));
  json::object list = claims_with("scope", nullptr);
  list["scp"] = json::array{"a", "mcp"};
  EXPECT_TRUE(scopes(list).has_scope("mcp"));
}

TEST(JsonWebKeys, OnlyKeysForSignaturesAreTaken) {
  json::object encryption = rsa().public_jwk();
  encryption["use"] = "enc";
  json::object other_algorithm = rsa().public_jwk();
  other_algorithm["alg"] = "RS512";
  json::object off_curve = p256().public_jwk();
  off_curve["y"] = off_curve["x"];
  json::object short_coordinate = p256().public_jwk();
  short_coordinate["x"] = base64url("short");
  const json::object symmetric{{"kty", "oct"}, {"k", base64url("secret")}, {"alg", "HS256"}};
  const TestKey weak{Kind::weak_rsa, "weak"};
  EXPECT_TRUE(parse_json_web_keys(jwk_set({encryption,
                                           other_algorithm,
                                           off_curve,
                                           short_coordinate,
                                           symmetric,
                                           weak.public_jwk(),
                                           {}}))
                  .empty());
  EXPECT_EQ(keys().size(), 3u);
  for (const char* bad : {"", "[]", "{}", R"({"keys":{}})", "x"})
    EXPECT_THROW(parse_json_web_keys(bad), Error) << bad;
}

}  // namespace
}  // namespace belljar::serve
