#include "drivers/docker/engine_dialer.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "base/error.h"
#include "base/testing.h"
#include "drivers/docker/engine.h"
#include "drivers/docker/testing.h"
#include "net/test_server.h"

namespace belljar::docker {
namespace {

TEST(EngineDialer, HandsConnectionsOver) {
  FakeEngine fake{[](const FakeRequest&) {
    return net::http_answer(200, R"({"Version":"20.10.24","ApiVersion":"1.41","Components":[]})");
  }};
  Engine engine{std::make_unique<EngineHttp>(fake.address(), Dial::by_process)};
  EXPECT_EQ(run(engine.connect()).version, "20.10.24");
  EXPECT_EQ(run(engine.connect()).version, "20.10.24");
}

TEST(EngineDialer, SaysWhyThereIsNone) {
  const TemporaryDirectory directory;
  EngineDialer dialer{directory.path() + "/nobody"};
  for (int i = 0; i < 3; ++i) {
    const EngineDialer::Dialed dialed = run(dialer.dial());
    EXPECT_EQ(dialed.error, ENOENT);
    EXPECT_FALSE(dialed.connection);
  }
  const EngineAddress nobody = parse_engine_address("unix://" + directory.path() + "/nobody");
  Engine engine{std::make_unique<EngineHttp>(nobody, Dial::by_process)};
  EXPECT_THAT([&] { run(engine.connect()); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("no container engine answers at")));
}

// Many at once: each gets a connection of its own.
Task<> dial_many(EngineDialer& dialer) {
  const auto executor = co_await asio::this_coro::executor;
  std::set<int> seen;
  std::vector<Fd> kept;
  size_t left = 8;
  Event done{executor};
  for (int i = 0; i < 8; ++i) {
    const auto take = [&](const std::exception_ptr& error, EngineDialer::Dialed dialed) {
      EXPECT_FALSE(error);
      EXPECT_TRUE(seen.insert(dialed.connection.get()).second);
      kept.push_back(std::move(dialed.connection));
      if (--left == 0) done.set();
    };
    asio::co_spawn(executor, dialer.dial(), take);
  }
  co_await done.wait();
}

TEST(EngineDialer, ServesManyAtOnce) {
  FakeEngine fake{[](const FakeRequest&) { return FakeEngine::kSilence; }};
  EngineDialer dialer{fake.address().socket};
  run(dial_many(dialer));
}

TEST(EngineDialer, RefusesAPathThatIsTooLong) {
  EXPECT_THROW(EngineDialer{"/" + std::string(200, 'x')}, Error);
}

}  // namespace
}  // namespace belljar::docker
