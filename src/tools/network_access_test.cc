#include "tools/network_access.h"

#include <gmock/gmock.h>

#include "tools/testing.h"

namespace belljar::tools {
namespace {

using network::Policy;
using testing::HasSubstr;

Settings with(const char* network, const char* most = nullptr) {
  Settings settings;
  settings.network = Policy::parse(network);
  if (most != nullptr) settings.max_network = Policy::parse(most);
  return settings;
}

std::string chosen(const Settings& settings, const char* sent) {
  const std::vector<Parameter> parameters{network_parameter(settings)};
  const auto arguments = Arguments::read(parameters, json::parse(sent).as_object());
  return read_network(arguments, settings).text();
}

TEST(NetworkAccess, ACallGetsWhatTheOperatorSaysAndMayAskForLess) {
  EXPECT_EQ(chosen(Settings{}, "{}"), "internet");
  EXPECT_EQ(chosen(Settings{}, R"({"network":"none"})"), "none");
  EXPECT_EQ(chosen(Settings{}, R"({"network":"allow:example.com"})"), "allow:example.com");
  EXPECT_EQ(chosen(with("none"), "{}"), "none");
  EXPECT_EQ(chosen(with("none", "internet"), R"({"network":"internet"})"), "internet");
}

TEST(NetworkAccess, MoreThanTheCeilingIsRefused) {
  for (const auto& [settings, sent] : {std::pair{Settings{}, R"({"network":"host"})"},
                                       {with("none"), R"({"network":"internet"})"},
                                       {Settings{}, R"({"network":"allow:10.1.2.3"})"},
                                       {with("allow:a.test"), R"({"network":"allow:b.test"})"}}) {
    EXPECT_THAT(error_of([&s = settings, &t = sent] { chosen(s, t); }),
                HasSubstr("the operator allows at most"));
  }
  EXPECT_THAT(error_of([] { chosen(Settings{}, R"({"network":"everything"})"); }),
              HasSubstr("argument \"network\""));
}

TEST(NetworkAccess, ACeilingBelowTheDefaultLowersIt) {
  EXPECT_EQ(chosen(with("internet", "none"), "{}"), "none");
  EXPECT_EQ(chosen(with("host", "allow:a.test"), "{}"), "allow:a.test");
}

TEST(NetworkAccess, TheResultHasAPortOnlyIfThereWasOne) {
  Traffic lookup{"evil.test", 0, Traffic::Verdict::blocked, 1, 0};
  Traffic connection{"good.test", 443, Traffic::Verdict::allowed, 2, 77};
  EXPECT_EQ(json::serialize(network_fields({lookup, connection})),
            R"([{"host":"evil.test","verdict":"blocked","bytes":0},)"
            R"({"host":"good.test","port":443,"verdict":"allowed","bytes":77}])");
}

class FakeWay final : public Connectivity {
 public:
  std::vector<Traffic> traffic() const override { return seen; }
  std::string policy() const override { return "internet"; }
  std::vector<Traffic> seen;
};

TEST(NetworkAccess, ARunReportsItsOwnTrafficOnly) {
  check([](World& world) -> Task<> {
    SandboxSpec spec;
    Lease lease = co_await world.sandboxes.create_ephemeral("me", std::move(spec));
    const auto way = std::make_shared<FakeWay>();
    lease.set_connectivity(way);
    way->seen = {{"a.test", 1, Traffic::Verdict::allowed, 1, 10},
                 {"b.test", 2, Traffic::Verdict::allowed, 1, 10}};
    const NetworkOfRun run{lease};
    way->seen[1].bytes = 15;
    way->seen.push_back({"c.test", 3, Traffic::Verdict::blocked, 1, 0});
    const auto traffic = run.traffic();
    EXPECT_EQ(traffic.size(), 2u);
    EXPECT_EQ(traffic[0].host, "b.test");
    EXPECT_EQ(traffic[0].bytes, 5u);
    EXPECT_EQ(traffic[1].host, "c.test");
  });
}

TEST(NetworkAccess, ALimitThatAnEarlierRunReachedIsNotOfThisOne) {
  check([](World& world) -> Task<> {
    SandboxSpec spec;
    Lease lease = co_await world.sandboxes.create_ephemeral("me", std::move(spec));
    const auto way = std::make_shared<FakeWay>();
    lease.set_connectivity(way);
    way->seen = {{"a.test", 1, Traffic::Verdict::failed, 5, 0, 3, 2}};
    const NetworkOfRun run{lease};
    way->seen[0].attempts += 2;  // of which one was beyond a limit
    way->seen[0].over_shared_limit += 1;
    const auto traffic = run.traffic();
    EXPECT_EQ(traffic.size(), 1u);
    EXPECT_EQ(traffic[0].over_own_limit, 0u);
    EXPECT_EQ(traffic[0].over_shared_limit, 1u);
  });
}

TEST(NetworkAccess, TheNetworkOfASessionCannotChange) {
  check([](World& world) -> Task<> {
    const std::string id = co_await world.initialize();
    const auto call = [&id](const char* network) {
      return fmt::format(R"({{"container_id":"{}","code":"exit 0","network":"{}"}})", id, network);
    };
    const std::string same = co_await world.refusal("run_js", call("internet"));
    EXPECT_EQ(same, "");
    const std::string other = co_await world.refusal("run_js", call("none"));
    EXPECT_THAT(other, HasSubstr("cannot change"));
  });
}

}  // namespace
}  // namespace belljar::tools
