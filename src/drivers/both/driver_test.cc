#include "drivers/both/driver.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/testing.h"
#include "drivers/fake/driver.h"

namespace belljar {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

// Two fakes, and the driver of both.
struct Bench {
  explicit Bench(const asio::any_io_executor& executor) {
    auto host_driver = std::make_unique<FakeDriver>(executor);
    auto engine_driver = std::make_unique<FakeDriver>(executor);
    host = host_driver.get();
    engine = engine_driver.get();
    both = std::make_unique<BothDrivers>(std::move(host_driver), std::move(engine_driver));
  }
  FakeDriver* host;
  FakeDriver* engine;
  std::unique_ptr<BothDrivers> both;
};

SandboxSpec spec_of(std::string name, std::string id) {
  SandboxSpec spec;
  spec.image.name = std::move(name);
  spec.image.id = std::move(id);
  return spec;
}

std::vector<std::string> names_of(const std::vector<SandboxSpec>& specs) {
  std::vector<std::string> names;
  for (const SandboxSpec& spec : specs) names.push_back(spec.image.name);
  return names;
}

Task<> create_both() {
  const Bench bench{co_await asio::this_coro::executor};
  const auto first = co_await bench.both->create(spec_of("node:24", ""));
  const auto second = co_await bench.both->create(spec_of("acme:1", "sha256:1"));
  EXPECT_THAT(names_of(bench.host->specs()), ElementsAre("node:24"));
  EXPECT_THAT(names_of(bench.engine->specs()), ElementsAre("acme:1"));
  co_await first->destroy();
  co_await second->destroy();
  co_await bench.both->shut_down();
  EXPECT_EQ(bench.host->live_sandboxes() + bench.engine->live_sandboxes(), 0u);
}
TEST(BothDrivers, AnImageSaysWhoseItIs) {
  run(create_both());
}

Task<> probe_both() {
  const Bench bench{co_await asio::this_coro::executor};
  const Capabilities found = co_await bench.both->probe();
  EXPECT_EQ(found.driver, "both");
  EXPECT_THAT(found.features, ElementsAre(Field(&Feature::name, "isolation"),
                                          Field(&Feature::name, "engine-isolation")));
}
TEST(BothDrivers, SaysWhatEachEnforces) {
  run(probe_both());
}

// A driver whose engine is not there.
class NoEngine final : public Driver {
 public:
  Task<Capabilities> probe() override {
    fail(Code::unavailable, "no container engine answers");
    co_return Capabilities{};
  }
  Task<std::unique_ptr<Sandbox>> create(SandboxSpec) override { co_return nullptr; }
  Task<> recover() override { co_return; }
  Task<> shut_down() override { co_return; }
};

Task<> probe_without_engine() {
  const auto executor = co_await asio::this_coro::executor;
  BothDrivers both{std::make_unique<FakeDriver>(executor), std::make_unique<NoEngine>()};
  const Capabilities found = co_await both.probe();
  const auto unmet = find_unmet(found.features, {});
  EXPECT_THAT(unmet, ElementsAre(Field(&Feature::name, "engine-connection")));
  EXPECT_THAT(unmet, ElementsAre(Field(&Feature::detail, HasSubstr("no container engine"))));
}
TEST(BothDrivers, AnEngineThatIsNotThereIsSomethingMissing) {
  run(probe_without_engine());
}

}  // namespace
}  // namespace belljar
