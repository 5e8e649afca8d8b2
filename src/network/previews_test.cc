#include "network/previews.h"

#include <gmock/gmock.h>

#include "base/fake_clock.h"
#include "base/testing.h"
#include "drivers/fake/driver.h"

namespace belljar::network {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

const std::string kOrigin = "http://127.0.0.1:8766";

// A request that is answered as a whole.
class Visit final : public net::HttpExchange {
 public:
  Visit(std::string target, net::HttpHeaders headers) {
    request_.method = "GET";
    request_.target = std::move(target);
    request_.headers = std::move(headers);
  }
  const net::HttpServerRequest& request() const override { return request_; }
  Task<std::string> read_body(size_t) override { co_return ""; }
  Task<> answer(net::HttpAnswer answer) override {
    status = answer.status;
    body = std::move(answer.body);
    headers = std::move(answer.headers);
    co_return;
  }
  Task<> begin(int, net::HttpHeaders) override { co_return; }
  Task<> write(std::string_view) override { co_return; }
  Task<> finish() override { co_return; }
  Task<size_t> read_raw(std::span<char>) override { co_return 0; }
  Task<> until_gone() override { co_await sleep_for(std::chrono::hours{1}); }

  std::string header(std::string_view name) const {
    for (const auto& [key, value] : headers)
      if (key == name) return value;
    return "";
  }

  int status = 0;
  std::string body;
  net::HttpHeaders headers;

 private:
  net::HttpServerRequest request_;
};

// Two owners with a sandbox each, and what a browser gets to see of them.
struct World {
  explicit World(const asio::any_io_executor& executor)
      : driver{executor},
        sandboxes{executor, driver, SessionLimits{}, clock},
        previews{sandboxes, kOrigin} {}

  Task<> populate() {
    SandboxSpec spec;
    const SandboxInfo of_ann = co_await sandboxes.create("ann", spec);
    const SandboxInfo of_bob = co_await sandboxes.create("bob", spec);
    ann = of_ann.id;
    bob = of_bob.id;
  }

  // The token of the link to a port.
  std::string token(const std::string& owner, const std::string& id, uint16_t port) {
    const std::string link = previews.link(owner, id, port);
    return link.substr(link.find('=') + 1);
  }

  Task<Visit> visit(std::string target, net::HttpHeaders headers = {}) {
    Visit visit{std::move(target), std::move(headers)};
    co_await previews.handle(visit);
    co_return visit;
  }

  FakeClock clock;
  FakeDriver driver;
  Sandboxes sandboxes;
  Previews previews;
  std::string ann;
  std::string bob;
};

Task<> in_world(Task<> (*body)(World&)) {
  World world{co_await asio::this_coro::executor};
  std::string failure;
  try {
    co_await world.populate();
    co_await body(world);
  } catch (const std::exception& e) {
    failure = e.what();
  }
  EXPECT_EQ(failure, "");
  co_await world.sandboxes.stop_all();
}

std::string prefix_of(const std::string& id) {
  return fmt::format("/preview/{}/3000/", id);
}

net::HttpHeaders cookie(const std::string& token) {
  return {{"cookie", "belljar-preview=" + token}};
}

Task<> link_has_a_token(World& world) {
  const std::string link = world.previews.link("ann", world.ann, 3000);
  EXPECT_THAT(link, StartsWith(kOrigin + prefix_of(world.ann) + "?belljar-token="));
  EXPECT_THAT(world.token("ann", world.ann, 3000), MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(world.previews.link("ann", world.ann, 3000), link) << "always the same";
  EXPECT_NE(world.token("ann", world.ann, 3001), world.token("ann", world.ann, 3000));
  co_return;
}
TEST(Previews, LinkHasAToken) {
  run(in_world(link_has_a_token));
}

Task<> token_becomes_a_cookie(World& world) {
  const std::string token = world.token("ann", world.ann, 3000);
  const std::string place = prefix_of(world.ann);
  const Visit first = co_await world.visit(place + "a?x=1&belljar-token=" + token);
  EXPECT_EQ(first.status, 303);
  EXPECT_EQ(first.header("location"), place + "a?x=1");
  EXPECT_EQ(first.header("set-cookie"), fmt::format("belljar-preview={}; Path={}; HttpOnly; "
                                                    "SameSite=Lax",
                                                    token, place));
  EXPECT_EQ(first.header("referrer-policy"), "no-referrer");
  const Visit wrong = co_await world.visit(place + "?belljar-token=0" + token);
  EXPECT_EQ(wrong.status, 401);
  EXPECT_EQ(wrong.header("set-cookie"), "");
}
TEST(Previews, TokenBecomesACookie) {
  run(in_world(token_becomes_a_cookie));
}

Task<> others_see_nothing(World& world) {
  const std::string of_ann = world.token("ann", world.ann, 3000);
  const std::string of_bob = world.token("bob", world.bob, 3000);
  const Visit none = co_await world.visit(prefix_of(world.ann));
  const Visit foreign = co_await world.visit(prefix_of(world.ann), cookie(of_bob));
  const std::string other_port = fmt::format("/preview/{}/3001/", world.ann);
  const Visit elsewhere = co_await world.visit(other_port, cookie(of_ann));
  const Visit never = co_await world.visit(prefix_of("js-sbx-never"), cookie(of_ann));
  for (const Visit* visit : {&none, &foreign, &elsewhere, &never}) {
    EXPECT_EQ(visit->status, 401);
    EXPECT_EQ(visit->body, none.body) << "nobody learns what exists";
  }
}
TEST(Previews, OthersSeeNothing) {
  run(in_world(others_see_nothing));
}

Task<> pages_of_other_origins_are_refused(World& world) {
  net::HttpHeaders headers = cookie(world.token("ann", world.ann, 3000));
  headers.emplace_back("origin", "http://127.0.0.1:8765");
  const Visit visit = co_await world.visit(prefix_of(world.ann), headers);
  EXPECT_EQ(visit.status, 403);
  headers.back().second = "null";
  const Visit sealed = co_await world.visit(prefix_of(world.ann), headers);
  EXPECT_EQ(sealed.status, 403);
}
TEST(Previews, PagesOfOtherOriginsAreRefused) {
  run(in_world(pages_of_other_origins_are_refused));
}

Task<> says_what_is_missing(World& world) {
  const auto headers = cookie(world.token("ann", world.ann, 3000));
  const Visit slash = co_await world.visit(fmt::format("/preview/{}/3000?a", world.ann), headers);
  EXPECT_EQ(slash.status, 303);
  EXPECT_EQ(slash.header("location"), prefix_of(world.ann) + "?a");
  const Visit nothing = co_await world.visit(prefix_of(world.ann), headers);
  EXPECT_EQ(nothing.status, 502);
  EXPECT_THAT(nothing.body, HasSubstr("Nothing in the sandbox accepts connections on port 3000"));
  co_await world.sandboxes.stop(world.ann, "ann");
  const Visit gone = co_await world.visit(prefix_of(world.ann), headers);
  EXPECT_EQ(gone.status, 404);
  EXPECT_THAT(gone.body, HasSubstr("has ended"));
  const Visit root = co_await world.visit("/");
  EXPECT_EQ(root.status, 404);
}
TEST(Previews, SayWhatIsMissing) {
  run(in_world(says_what_is_missing));
}

Task<> links_of_ended_sandboxes_are_forgotten(World& world) {
  const std::string kept = world.token("bob", world.bob, 3000);
  for (uint16_t port = 1; port < 63; ++port) world.previews.link("ann", world.ann, port);
  const auto headers = cookie(world.token("ann", world.ann, 3000));
  co_await world.sandboxes.stop(world.ann, "ann");
  world.previews.link("bob", world.bob, 1);
  const Visit gone = co_await world.visit(prefix_of(world.ann), headers);
  EXPECT_EQ(gone.status, 401);
  EXPECT_EQ(world.token("bob", world.bob, 3000), kept);
}
TEST(Previews, LinksOfEndedSandboxesAreForgotten) {
  run(in_world(links_of_ended_sandboxes_are_forgotten));
}

}  // namespace
}  // namespace belljar::network
