#include "serve/gatekeeper.h"

#include <gtest/gtest.h>

#include "base/fake_clock.h"
#include "base/testing.h"
#include "net/test_server.h"
#include "serve/testing.h"

namespace belljar::serve {
namespace {

using Kind = TestKey::Kind;
using std::chrono::seconds;

// An issuer with one key that can be exchanged, and a clock at 0.
class World {
 public:
  World()
      : key_{std::make_unique<TestKey>(Kind::p256, "1")}, server_{[this](const auto& r) {
          return answer(r);
        }} {}

  std::string answer(const net::TestRequest& request) {
    if (is_down_) return net::http_answer(500, "");
    if (request.target == "/.well-known/oauth-authorization-server") {
      return net::http_answer(200, json::serialize(json::object{
                                       {"issuer", named_issuer_.empty() ? issuer() : named_issuer_},
                                       {"jwks_uri", server_.url("/keys")}}));
    }
    if (request.target == "/keys") return net::http_answer(200, jwk_set({key_->public_jwk()}));
    return net::http_answer(404, "");
  }

  std::string issuer() const {
    std::string url = server_.url("");
    while (url.ends_with('/')) url.pop_back();
    return url;
  }
  json::object claims() const {
    return {{"iss", issuer()}, {"aud", "here"}, {"sub", "bob"}, {"exp", 600}, {"scope", "mcp run"}};
  }
  size_t fetches() const {
    size_t count = 0;
    for (const auto& request : server_.requests()) count += request.target == "/keys" ? 1 : 0;
    return count;
  }

  FakeClock clock_;
  std::unique_ptr<TestKey> key_;
  std::string named_issuer_;
  bool is_down_ = false;
  net::TestServer server_;
  net::HttpClient client_{net::HttpSettings{}};
};

std::string shown(const std::variant<Identity, Refusal>& verdict) {
  if (const auto* identity = std::get_if<Identity>(&verdict)) return identity->owner;
  const auto& refusal = std::get<Refusal>(verdict);
  return std::to_string(refusal.status) + " " + refusal.error;
}

class Door {
 public:
  Door(World& world, const asio::any_io_executor& executor)
      : issuer_{executor, world.client_, world.clock_, world.issuer()},
        gatekeeper_{tokens(), OAuthRules{{world.issuer(), "here"}, {"mcp"}}, &issuer_,
                    world.clock_} {}

  static BearerTokens tokens() {
    BearerTokens tokens;
    tokens.add("alice", sha256_of("alices-token"));
    return tokens;
  }
  Task<std::string> knock(std::string token) {
    std::vector<std::string> headers{"Bearer " + token};
    co_return shown(co_await gatekeeper_.admit(std::move(headers)));
  }
  Task<> close() { return issuer_.stop(); }

  Issuer issuer_;
  Gatekeeper gatekeeper_;
};

Task<> tokens_and_issuer() {
  World world;
  Door door{world, co_await asio::this_coro::executor};
  EXPECT_EQ(co_await door.knock("alices-token"), "token:alice");
  EXPECT_EQ(world.fetches(), 0u);
  EXPECT_EQ(co_await door.knock(world.key_->sign(world.claims())), "oauth:bob");
  EXPECT_EQ(co_await door.knock(world.key_->sign(world.claims())), "oauth:bob");
  EXPECT_EQ(world.fetches(), 1u);
  EXPECT_EQ(co_await door.knock("nonsense"), "401 invalid_token");
  json::object poor = world.claims();
  poor["scope"] = "run";
  EXPECT_EQ(co_await door.knock(world.key_->sign(poor)), "403 insufficient_scope");
  json::object impostor = world.claims();
  impostor["sub"] = "alice";
  EXPECT_EQ(co_await door.knock(world.key_->sign(impostor)), "oauth:alice");
  co_await door.close();
}

TEST(Gatekeeper, NamedTokensAndTokensOfTheIssuerAreDifferentOwners) {
  run(tokens_and_issuer());
}

Task<> forms() {
  FakeClock clock;
  Gatekeeper gatekeeper{Door::tokens(), OAuthRules{}, nullptr, clock};
  std::vector<std::string> none;
  EXPECT_EQ(shown(co_await gatekeeper.admit(none)), "401 ");
  std::vector<std::string> two{"Bearer alices-token", "Bearer alices-token"};
  EXPECT_EQ(shown(co_await gatekeeper.admit(two)), "400 invalid_request");
  std::vector<std::string> basic{"Basic YWxpY2U6eA=="};
  EXPECT_EQ(shown(co_await gatekeeper.admit(basic)), "401 invalid_token");
  std::vector<std::string> unknown{"Bearer a.b.c"};
  EXPECT_EQ(shown(co_await gatekeeper.admit(unknown)), "401 invalid_token");
  Gatekeeper open = Gatekeeper::open_to_all(clock);
  EXPECT_EQ(shown(co_await open.admit(none)), "token:everybody");
}

TEST(Gatekeeper, TheHeaderMustBeThereOnceAndOfOneForm) {
  run(forms());
}

Task<> rotation() {
  World world;
  Door door{world, co_await asio::this_coro::executor};
  EXPECT_EQ(co_await door.knock(world.key_->sign(world.claims())), "oauth:bob");
  world.key_ = std::make_unique<TestKey>(Kind::rsa, "2");
  EXPECT_EQ(co_await door.knock(world.key_->sign(world.claims())), "401 invalid_token");
  EXPECT_EQ(world.fetches(), 1u);  // it was asked a moment ago
  world.clock_.advance(seconds{31});
  EXPECT_EQ(co_await door.knock(world.key_->sign(world.claims())), "oauth:bob");
  EXPECT_EQ(world.fetches(), 2u);
  const json::object made_up{{"kid", "made-up"}};
  for (int i = 0; i < 5; ++i) {
    const std::string token = world.key_->sign(world.claims(), made_up);
    EXPECT_EQ(co_await door.knock(token), "401 invalid_token");
  }
  EXPECT_EQ(world.fetches(), 2u);
  co_await door.close();
}

TEST(Gatekeeper, NewKeysAreFoundButNotAskedForWithoutEnd) {
  run(rotation());
}

Task<> trouble() {
  World world;
  Door door{world, co_await asio::this_coro::executor};
  world.is_down_ = true;
  EXPECT_EQ(co_await door.knock(world.key_->sign(world.claims())), "503 temporarily_unavailable");
  EXPECT_EQ(co_await door.knock("alices-token"), "token:alice");
  world.is_down_ = false;
  world.named_issuer_ = "https://somebody-else.example";
  world.clock_.advance(seconds{31});
  EXPECT_EQ(co_await door.knock(world.key_->sign(world.claims())), "503 temporarily_unavailable");
  world.named_issuer_ = "";
  world.clock_.advance(seconds{31});
  EXPECT_EQ(co_await door.knock(world.key_->sign(world.claims())), "oauth:bob");
  world.is_down_ = true;  // what is known goes on to count
  world.clock_.advance(seconds{100});
  json::object later = world.claims();
  later["exp"] = 100'000;
  world.clock_.advance(seconds{4000});
  EXPECT_EQ(co_await door.knock(world.key_->sign(later)), "oauth:bob");
  co_await door.close();
}

TEST(Gatekeeper, AnIssuerThatCannotBeAskedIsNoVerdict) {
  run(trouble());
}

TEST(Gatekeeper, ChallengesAreThoseOfTheProtocol) {
  EXPECT_EQ(challenge(Refusal{401, "", "x"}, {}, ""), "Bearer");
  EXPECT_EQ(challenge(Refusal{401, "", "x"}, {"mcp"}, "https://h/m"),
            "Bearer scope=\"mcp\", resource_metadata=\"https://h/m\"");
  EXPECT_EQ(challenge(Refusal{403, "insufficient_scope", "say \"\r\nhi\\"}, {"a", "b"}, ""),
            "Bearer error=\"insufficient_scope\", error_description=\"say '''hi'\", scope=\"a b\"");
}

TEST(Owners, AreShownByTheNamesThatTheOperatorGaveThem) {
  EXPECT_EQ(shown_owner(named_owner("carol").owner), "carol");
  EXPECT_EQ(shown_owner(owner_of_subject("carol").owner), "oauth:carol");
  EXPECT_EQ(shown_owner(owner_of_subject("token:carol").owner), "oauth:token:carol");
}

TEST(Issuer, MustBeReachedSafely) {
  asio::io_context context;
  net::HttpClient client{net::HttpSettings{}};
  FakeClock clock;
  for (const char* bad : {"", "issuer", "http://issuer.example", "ftp://issuer.example"})
    EXPECT_THROW((Issuer{context.get_executor(), client, clock, bad}), Error) << bad;
  EXPECT_NO_THROW((Issuer{context.get_executor(), client, clock, "https://issuer.example/tenant"}));
}

}  // namespace
}  // namespace belljar::serve
