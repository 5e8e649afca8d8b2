#include "sandbox/background.h"

#include <gtest/gtest.h>

#include "base/fake_clock.h"
#include "base/testing.h"
#include "drivers/fake/driver.h"
#include "sandbox/sandboxes.h"

namespace belljar {
namespace {

// A session sandbox of the fake driver.
struct Session {
  explicit Session(const asio::any_io_executor& executor)
      : driver{executor}, sandboxes{executor, driver, SessionLimits{}, clock} {}

  Task<> open() {
    SandboxSpec spec;
    const SandboxInfo made = co_await sandboxes.create("ann", std::move(spec));
    id = made.id;
  }

  Task<std::shared_ptr<BackgroundProcess>> start(std::string script) {
    Command command;
    command.argv = {"/bin/sh", "-c", std::move(script)};
    return BackgroundProcess::start(sandboxes.use(id, "ann"), std::move(command), 1000, nullptr);
  }

  FakeClock clock;
  FakeDriver driver;
  Sandboxes sandboxes;
  std::string id;
};

void check(Task<> (*body)(Session&)) {
  const auto all = [](Task<> (*test)(Session&)) -> Task<> {
    Session session{co_await asio::this_coro::executor};
    co_await session.open();
    co_await test(session);
    co_await session.sandboxes.stop_all();
  };
  run(all(body));
}

Task<> keeps_running(Session& session) {
  const auto process = co_await session.start("print ready\nhang");
  EXPECT_EQ(process->number(), 1);
  EXPECT_TRUE(process->running());
  EXPECT_EQ(process->log().read(0, 100, false).text, "ready\n");
  EXPECT_EQ(session.sandboxes.list("ann").at(0).running, 1u);
}
TEST(BackgroundProcess, RunsOnAndKeepsTheSandboxFromBeingIdle) {
  check(keeps_running);
}

Task<> ends(Session& session) {
  const auto process = co_await session.start("print bye\nexit 3");
  const Outcome outcome = co_await process->wait();
  EXPECT_EQ(outcome.code, 3);
  EXPECT_FALSE(process->running());
  EXPECT_EQ(process->log().read(0, 100, true).text, "bye\n");
  EXPECT_EQ(session.sandboxes.list("ann").at(0).running, 0u);
}
TEST(BackgroundProcess, LetsGoOfTheSandboxWhenItEnds) {
  check(ends);
}

Task<> stopped(Session& session) {
  const auto process = co_await session.start("hang");
  co_await session.sandboxes.stop(session.id, "ann");
  EXPECT_FALSE(process->running());
  EXPECT_EQ(process->outcome()->kind, Outcome::Kind::cancelled);
  EXPECT_EQ(session.driver.live_processes(), 0u);
}
TEST(BackgroundProcess, EndsWithTheSandbox) {
  check(stopped);
}

Task<> many(Session& session) {
  for (int i = 0; i < 40; ++i) {
    const auto process = co_await session.start("exit 0");
    co_await process->wait();
  }
  const auto last = co_await session.start("hang");
  EXPECT_EQ(last->number(), 41);
  const Lease lease = session.sandboxes.use(session.id, "ann");
  EXPECT_LE(lease.background().size(), 16u);
  for (int i = 0; i < 15; ++i) co_await session.start("hang");
  std::string refusal;
  try {
    co_await session.start("hang");
  } catch (const Error& e) {
    refusal = e.what();
  }
  EXPECT_NE(refusal.find("which is the limit"), std::string::npos) << refusal;
  EXPECT_EQ(session.driver.live_processes(), 16u);
}
TEST(BackgroundProcess, IsBoundedInNumber) {
  check(many);
}

}  // namespace
}  // namespace belljar
