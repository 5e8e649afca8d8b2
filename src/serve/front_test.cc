#include "serve/front.h"

#include <gtest/gtest.h>

#include "base/fake_clock.h"
#include "base/request_context.h"
#include "mcp/http_testing.h"

namespace belljar::serve {
namespace {

using mcp::FakeExchange;
using net::HttpHeaders;

// Tells who came, and under which id.
class EchoTenant final : public Tenant {
 public:
  EchoTenant(std::string owner, bool& idle) : owner_{std::move(owner)}, idle_{idle} {}
  Task<> handle(net::HttpExchange& exchange) override {
    net::HttpAnswer answer;
    answer.body = owner_ + " " + current_request()->id + " " + current_request()->traceparent;
    co_await exchange.answer(std::move(answer));
  }
  bool is_idle() const override { return idle_; }
  void drain() override {}
  Task<> stop() override { co_return; }

 private:
  std::string owner_;
  bool& idle_;
};

BearerTokens tokens_of_two() {
  BearerTokens tokens;
  tokens.add("alice", sha256_of("alices-token"));
  tokens.add("bob", sha256_of("bobs-token"));
  return tokens;
}

class FrontTest : public testing::Test {
 protected:
  static FrontOptions options() {
    FrontOptions options;
    options.resource = "https://mcp.example.com/mcp";
    options.metrics_sha256 = sha256_of("metrics-token");
    return options;
  }

  void make(FrontOptions options) {
    front_.emplace(std::move(options), gatekeeper_, tenants_, metrics_, activity_,
                   [this] { return ready_; });
  }
  FrontTest() {
    describe_requests(metrics_);
    make(options());
  }
  ~FrontTest() override {
    front_.reset();
    run_here(tenants_.stop());
  }

  void run_here(Task<> task) {
    std::exception_ptr failure;
    asio::co_spawn(context_, std::move(task),
                   [&failure](const std::exception_ptr& e) { failure = e; });
    context_.restart();
    context_.run();
    if (failure) std::rethrow_exception(failure);
  }

  FakeExchange ask(std::string target, HttpHeaders headers = {}, std::string method = "GET") {
    if (host_) headers.emplace_back("host", "localhost:8765");
    net::HttpServerRequest request{std::move(method), std::move(target), std::move(headers),
                                   "127.0.0.1"};
    FakeExchange exchange{context_.get_executor(), std::move(request), ""};
    run_here(front_->handle(exchange));
    return exchange;
  }
  static HttpHeaders bearer(const std::string& token) {
    return {{"authorization", "Bearer " + token}};
  }

  asio::io_context context_{1};
  FakeClock clock_;
  observe::Metrics metrics_;
  Activity activity_{context_.get_executor()};
  Gatekeeper gatekeeper_{tokens_of_two(), OAuthRules{}, nullptr, clock_};
  bool idle_ = true;
  Tenants tenants_{context_.get_executor(), clock_,
                   [this](const Identity& identity) -> std::unique_ptr<Tenant> {
                     return std::make_unique<EchoTenant>(identity.owner, idle_);
                   },
                   2};
  bool ready_ = true;
  bool host_ = true;
  std::optional<Front> front_;
};

TEST_F(FrontTest, EveryTokenLeadsToItsOwnersTenant) {
  const auto alice = ask("/mcp", bearer("alices-token"), "POST");
  EXPECT_EQ(alice.status, 200);
  EXPECT_TRUE(alice.sent.starts_with("token:alice ")) << alice.sent;
  EXPECT_TRUE(ask("/mcp", bearer("bobs-token"), "POST").sent.starts_with("token:bob "));
}

TEST_F(FrontTest, RequestsHaveRandomIdsAndKeepTheirTrace) {
  auto headers = bearer("alices-token");
  headers.emplace_back("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  const std::string first = ask("/mcp", headers, "POST").sent;
  const std::string second = ask("/mcp", bearer("alices-token"), "POST").sent;
  EXPECT_TRUE(first.ends_with(" 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
  EXPECT_EQ(second.size(), std::string{"token:alice "}.size() + 32 + 1);
  EXPECT_NE(first.substr(0, 44), second.substr(0, 44));
}

TEST_F(FrontTest, WithoutATokenNobodyGetsIn) {
  const auto none = ask("/mcp", {}, "POST");
  EXPECT_EQ(none.status, 401);
  EXPECT_EQ(none.header("WWW-Authenticate"), "Bearer");
  const auto wrong = ask("/mcp", bearer("wrong"), "POST");
  EXPECT_EQ(wrong.status, 401);
  EXPECT_TRUE(wrong.header("WWW-Authenticate").starts_with("Bearer error=\"invalid_token\""));
  EXPECT_EQ(wrong.json().at("error"), "invalid_token");
  EXPECT_EQ(ask("/mcp?access_token=alices-token", {}, "POST").status, 401);
}

TEST_F(FrontTest, HostAndOriginAreCheckedBeforeEverythingElse) {
  host_ = false;
  for (const char* path : {"/mcp", "/healthz", "/metrics", "/nothing"}) {
    auto headers = bearer("alices-token");
    headers.emplace_back("host", "evil.example");
    EXPECT_EQ(ask(path, headers).status, 403) << path;
    headers.back().second = "localhost";
    headers.emplace_back("origin", "https://evil.example");
    EXPECT_EQ(ask(path, headers).status, 403) << path;
  }
}

TEST_F(FrontTest, PathsAreExact) {
  for (const char* path : {"/", "/mcp/", "//mcp", "/mcp/..", "/MCP", "/%6dcp", "/mcp/../mcp",
                           "/healthz/", "/.well-known/oauth-protected-resource"}) {
    EXPECT_EQ(ask(path, bearer("alices-token")).status, 404) << path;
  }
}

TEST_F(FrontTest, HealthAndReadinessNeedNoTokenAndTellNothing) {
  EXPECT_EQ(ask("/healthz").sent, "alive\n");
  EXPECT_EQ(ask("/readyz").status, 200);
  ready_ = false;
  EXPECT_EQ(ask("/readyz").status, 503);
  ready_ = true;
  EXPECT_EQ(ask("/healthz", {}, "POST").status, 405);
  front_->drain();
  EXPECT_EQ(ask("/readyz").status, 503);
  EXPECT_EQ(ask("/healthz").status, 200);
}

TEST_F(FrontTest, WhileItDrainsRequestsAreTurnedAway) {
  front_->drain();
  const auto exchange = ask("/mcp", bearer("alices-token"), "POST");
  EXPECT_EQ(exchange.status, 503);
  EXPECT_EQ(exchange.header("Retry-After"), "5");
  EXPECT_EQ(ask("/mcp", bearer("wrong"), "POST").status, 401);
}

TEST_F(FrontTest, MetricsNeedTheirOwnToken) {
  EXPECT_EQ(ask("/metrics").status, 401);
  EXPECT_EQ(ask("/metrics", bearer("alices-token")).status, 401);
  const auto shown = ask("/metrics", bearer("metrics-token"));
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(shown.sent.find("belljar_http_requests_total{status=\"401\"} 2\n"), std::string::npos)
      << shown.sent;
  EXPECT_EQ(shown.sent.find("alice"), std::string::npos);
  EXPECT_EQ(ask("/mcp", bearer("metrics-token"), "POST").status, 401);
}

TEST_F(FrontTest, WhereOwnersMayReadMetricsStrangersMayNot) {
  FrontOptions own = options();
  own.metrics_sha256 = "";
  own.metrics_for_owners = true;
  make(own);
  EXPECT_EQ(ask("/metrics").status, 401);
  EXPECT_EQ(ask("/metrics", bearer("bobs-token")).status, 200);
  own.metrics_for_owners = false;
  make(own);
  EXPECT_EQ(ask("/metrics", bearer("bobs-token")).status, 401);
  EXPECT_EQ(ask("/metrics", bearer("")).status, 401);
}

TEST_F(FrontTest, TheResourceDescribesItselfWhereThereIsAnIssuer) {
  FrontOptions with_issuer = options();
  with_issuer.issuer = "https://issuer.example";
  with_issuer.scopes = {"mcp"};
  make(with_issuer);
  for (const char* path :
       {"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"}) {
    const auto shown = ask(path);
    EXPECT_EQ(shown.status, 200);
    EXPECT_EQ(shown.json().at("resource"), "https://mcp.example.com/mcp");
    EXPECT_EQ(shown.json().at("authorization_servers").at(0), "https://issuer.example");
    EXPECT_EQ(shown.header("Access-Control-Allow-Origin"), "*");
  }
  EXPECT_EQ(ask("/mcp", {}, "POST").header("WWW-Authenticate"),
            "Bearer scope=\"mcp\", resource_metadata="
            "\"https://mcp.example.com/.well-known/oauth-protected-resource/mcp\"");
}

TEST_F(FrontTest, OwnersOfAnIssuerMakeRoomForOthersWhenTheyAreIdle) {
  const Identity one = owner_of_subject("1");
  tenants_.of(named_owner("alice"));
  tenants_.of(one);
  clock_.advance(std::chrono::seconds{1});
  tenants_.of(owner_of_subject("2"));
  clock_.advance(std::chrono::seconds{1});
  const Tenant* kept = tenants_.of(one).get();  // used again: the other one is older now
  tenants_.of(owner_of_subject("3"));
  EXPECT_EQ(tenants_.size(), 3u);
  EXPECT_EQ(tenants_.of(one).get(), kept);
  idle_ = false;
  EXPECT_THROW(tenants_.of(owner_of_subject("4")), Error);
  EXPECT_NO_THROW(tenants_.of(named_owner("bob")));
  idle_ = true;
  const auto held = tenants_.of(one);
  const auto also_held = tenants_.of(owner_of_subject("3"));
  EXPECT_THROW(tenants_.of(owner_of_subject("4")), Error);
}

}  // namespace
}  // namespace belljar::serve
