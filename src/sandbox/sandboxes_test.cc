#include "sandbox/sandboxes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fake_clock.h"
#include "base/testing.h"
#include "drivers/fake/driver.h"

namespace belljar {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

// A table of sandboxes over the fake driver, and short ways to use it.
struct World {
  explicit World(const asio::any_io_executor& executor, SessionLimits limits = {})
      : driver{executor}, sandboxes{executor, driver, limits, clock}, group{executor} {}

  Task<std::string> create(std::string owner) {
    SandboxSpec spec;
    const SandboxInfo info = co_await sandboxes.create(std::move(owner), std::move(spec));
    co_return info.id;
  }
  Task<> create_and_forget() { co_await create("ann"); }

  // Lets everything that is ready run.
  static Task<> turn() {
    for (int i = 0; i < 20; ++i) co_await sleep_for(milliseconds{0});
  }
  Task<> advance(seconds by) {
    clock.advance(by);
    co_await turn();
  }

  // Runs a script in the sandbox and keeps its result.
  Task<> run_in(std::string id, std::string script, std::optional<RunResult>& result) {
    Lease lease = sandboxes.use(id, "ann");
    Command command;
    command.argv = {"/bin/sh", "-c", std::move(script)};
    const RunLimits limits;
    result = co_await lease.run(std::move(command), limits, nullptr);
  }

  FakeClock clock;
  FakeDriver driver;
  Sandboxes sandboxes;
  TaskGroup group;
};

// Runs a test's body in a world of its own.
Task<> in_world(Task<> (*body)(World&), SessionLimits limits) {
  World world{co_await asio::this_coro::executor, limits};
  try {
    co_await body(world);
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
  co_await world.group.stop();
  co_await world.sandboxes.stop_all();
  EXPECT_EQ(world.driver.live_sandboxes(), 0u);
  EXPECT_EQ(world.clock.sleepers(), 0u);
}
void check(Task<> (*body)(World&), SessionLimits limits = {}) {
  run(in_world(body, limits));
}

std::string refusal(World& world, const std::string& id, const std::string& owner, Code code) {
  try {
    world.sandboxes.use(id, owner);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code);
    return e.what();
  }
  return "";
}

Task<> create_use_list_stop(World& world) {
  const std::string id = co_await world.create("ann");
  EXPECT_THAT(id, testing::MatchesRegex("js-sbx-[0-9a-f-]{36}"));
  std::optional<RunResult> result;
  co_await world.run_in(id, "print hi", result);
  EXPECT_EQ(result->out.text, "hi\n");
  EXPECT_EQ(world.sandboxes.list("ann").size(), 1u);
  co_await world.sandboxes.stop(id, "ann");
  EXPECT_EQ(world.sandboxes.list("ann").size(), 0u);
  EXPECT_EQ(world.driver.live_sandboxes(), 0u);
}
TEST(Sandboxes, MakesFindsListsAndStopsASandbox) {
  check(create_use_list_stop);
}

Task<> same_refusal(World& world) {
  const std::string id = co_await world.create("ann");
  const std::string foreign = refusal(world, id, "bob", Code::not_found);
  EXPECT_THAT(foreign, StartsWith("no such sandbox: " + id));
  EXPECT_TRUE(world.sandboxes.list("bob").empty());
  co_await world.sandboxes.stop(id, "ann");
  EXPECT_EQ(refusal(world, id, "ann", Code::not_found), foreign);
  EXPECT_EQ(refusal(world, id, "cid", Code::not_found), foreign);
}
TEST(Sandboxes, GivesTheSameRefusalForForeignUnknownAndGoneIds) {
  check(same_refusal);
}

Task<> malformed_ids(World& world) {
  const std::string ids[] = {"",
                             "--help",
                             "x; touch /tmp/pwn",
                             "$(id)",
                             "a/../b",
                             "a\nb",
                             ".hidden",
                             std::string(129, 'a'),
                             std::string("a\0b", 3),
                             "é",
                             "a b"};
  for (const std::string& id : ids) {
    EXPECT_EQ(refusal(world, id, "ann", Code::invalid), "Invalid container ID") << id;
  }
  EXPECT_THAT(refusal(world, std::string(128, 'a'), "ann", Code::not_found),
              StartsWith("no such sandbox"));
  co_return;
}
TEST(Sandboxes, RefusesWhatCannotBeAnId) {
  check(malformed_ids);
}

Task<> quota_counts_creations(World& world) {
  world.driver.hold_creation();
  world.group.spawn("first", world.create_and_forget());
  world.group.spawn("second", world.create_and_forget());
  co_await World::turn();
  std::string text;
  try {
    co_await world.create("ann");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::exhausted);
    text = e.what();
  }
  EXPECT_THAT(text, HasSubstr("you already have 2 live sandboxes"));
  world.driver.let_go();
  co_await World::turn();
  EXPECT_EQ(world.sandboxes.list("ann").size(), 2u);
  co_await world.sandboxes.stop(world.sandboxes.list("ann")[0].id, "ann");
  co_await world.create("ann");
}
TEST(Sandboxes, CountsSandboxesThatAreStillBeingMade) {
  SessionLimits limits;
  limits.quota.per_owner = 2;
  check(quota_counts_creations, limits);
}

Task<> failed_creation(World& world) {
  for (int i = 0; i < 3; ++i) {
    world.driver.fail_next_creation(Error{Code::unavailable, "no room"});
    std::string text;
    try {
      co_await world.create("ann");
    } catch (const Error& e) {
      text = e.what();
    }
    EXPECT_EQ(text, "no room");
  }
  co_await world.create("ann");
}
TEST(Sandboxes, GivesThePlaceBackWhenACreationFails) {
  SessionLimits limits;
  limits.quota.total = 1;
  check(failed_creation, limits);
}

Task<> ephemeral(World& world) {
  {
    SandboxSpec spec;
    Lease lease = co_await world.sandboxes.create_ephemeral("ann", std::move(spec));
    EXPECT_TRUE(world.sandboxes.list("ann").empty());
    EXPECT_EQ(world.driver.live_sandboxes(), 1u);
    std::string text;
    try {
      co_await world.create("ann");
    } catch (const Error& e) {
      text = e.what();
    }
    EXPECT_THAT(text, HasSubstr("limit"));
  }
  EXPECT_EQ(world.driver.live_sandboxes(), 0u);
  co_await world.create("ann");
}
TEST(Sandboxes, AnEphemeralSandboxCountsAndEndsWithItsLease) {
  SessionLimits limits;
  limits.quota.total = 1;
  check(ephemeral, limits);
}

Task<> lifetime(World& world) {
  const std::string id = co_await world.create("ann");
  std::optional<RunResult> result;
  world.group.spawn("run", world.run_in(id, "print begun\nhang", result));
  co_await world.advance(seconds{3599});
  EXPECT_EQ(world.sandboxes.list("ann").at(0).lifetime_left, seconds{1});
  EXPECT_FALSE(result);
  co_await world.advance(seconds{1});
  EXPECT_EQ(world.driver.live_sandboxes(), 0u);
  EXPECT_EQ(result.value().outcome.kind, Outcome::Kind::cancelled);
  EXPECT_EQ(result->out.text, "begun\n");
  EXPECT_EQ(result->stop_reason, "the sandbox reached its lifetime of 3600 s");
}
TEST(Sandboxes, EndsASandboxAtTheEndOfItsLifetimeEvenIfItWorks) {
  check(lifetime);
}

Task<> idling(World& world) {
  const std::string used = co_await world.create("ann");
  co_await world.advance(seconds{1});
  const std::string idle = co_await world.create("ann");
  std::optional<RunResult> result;
  co_await world.advance(seconds{1000});
  co_await world.run_in(used, "print a", result);
  co_await world.advance(seconds{799});
  EXPECT_EQ(world.sandboxes.list("ann").size(), 2u);
  EXPECT_EQ(world.sandboxes.list("ann")[0].idle, seconds{799});
  EXPECT_EQ(world.sandboxes.list("ann")[1].idle, seconds{1799});
  co_await world.advance(seconds{1});
  EXPECT_EQ(world.sandboxes.list("ann").size(), 1u);
  EXPECT_THAT(refusal(world, idle, "ann", Code::not_found), StartsWith("no such sandbox"));
  co_await world.advance(seconds{999});
  EXPECT_EQ(world.sandboxes.list("ann").size(), 1u);
  co_await world.advance(seconds{1});
  EXPECT_EQ(world.sandboxes.list("ann").size(), 0u);
  EXPECT_EQ(world.clock.sleepers(), 0u) << "nothing lives, so nothing has to wake";
  const std::string later = co_await world.create("ann");
  co_await world.advance(seconds{1800});
  EXPECT_EQ(world.driver.live_sandboxes(), 0u) << "the reaper did not start again";
}
TEST(Sandboxes, EndsASandboxThatIsIdleForTooLong) {
  check(idling);
}

Task<> running_is_not_idle(World& world) {
  const std::string id = co_await world.create("ann");
  std::optional<RunResult> first;
  std::optional<RunResult> second;
  world.group.spawn("run", world.run_in(id, "await flag", first));
  co_await world.advance(seconds{1799});
  co_await world.advance(seconds{1000});
  const SandboxInfo info = world.sandboxes.list("ann").at(0);
  EXPECT_EQ(info.running, 1u);
  EXPECT_EQ(info.idle, seconds{0});
  EXPECT_EQ(info.age, seconds{2799});
  co_await world.run_in(id, "touch flag", second);
  co_await World::turn();
  EXPECT_TRUE(first);
  EXPECT_EQ(world.sandboxes.list("ann").at(0).running, 0u);
}
TEST(Sandboxes, CountsRunningWorkAsUse) {
  check(running_is_not_idle);
}

Task<> stop_during_a_run(World& world) {
  const std::string id = co_await world.create("ann");
  std::optional<RunResult> result;
  world.group.spawn("run", world.run_in(id, "print begun\nhang", result));
  co_await World::turn();
  co_await world.sandboxes.stop(id, "ann");
  co_await World::turn();
  EXPECT_EQ(result.value().outcome.kind, Outcome::Kind::cancelled);
  EXPECT_EQ(result->stop_reason, "the sandbox was stopped");
  EXPECT_EQ(result->out.text, "begun\n");
}
TEST(Sandboxes, StoppingASandboxCancelsWhatRunsInIt) {
  check(stop_during_a_run);
}

// Ends later than it is told to, as connections to a published port may.
class SlowAttachment final : public Attachment {
 public:
  explicit SlowAttachment(const asio::any_io_executor& executor) : may_end{executor} {}
  Task<> stop() override {
    co_await may_end.wait();
    ended = true;
  }

  Event may_end;
  bool ended = false;
};

Task<> cancelled_stop(World& world) {
  const std::string id = co_await world.create("ann");
  const auto slow = std::make_shared<SlowAttachment>(co_await asio::this_coro::executor);
  world.sandboxes.use(id, "ann").ports().emplace(8080, slow);
  const TaskGroup::Id call = world.group.spawn("stop", world.sandboxes.stop(id, "ann"));
  co_await World::turn();
  world.group.cancel(call);
  co_await World::turn();
  EXPECT_EQ(world.group.size(), 0u) << "the call has ended";
  EXPECT_FALSE(slow->ended);
  slow->may_end.set();
  co_await World::turn();
  EXPECT_TRUE(slow->ended);
  EXPECT_EQ(world.driver.live_sandboxes(), 0u);
}
TEST(Sandboxes, AStopThatIsCalledOffGoesOn) {
  check(cancelled_stop);
}

Task<> stop_between_lease_and_run(World& world) {
  const std::string id = co_await world.create("ann");
  Lease lease = world.sandboxes.use(id, "ann");
  co_await world.sandboxes.stop(id, "ann");
  Command command;
  command.argv = {"/bin/sh", "-c", "print hi"};
  const RunLimits limits;
  const RunResult result = co_await lease.run(std::move(command), limits, nullptr);
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::cancelled);
  EXPECT_EQ(result.stop_reason, "the sandbox was stopped");
}
TEST(Sandboxes, ARunThatComesTooLateIsCancelledToo) {
  check(stop_between_lease_and_run);
}

Task<> keep_reason(const Lease& lease, std::string& reason) {
  reason = co_await lease.stopped();
}
Task<> wait_for_the_stop(World& world) {
  const std::string id = co_await world.create("ann");
  const Lease lease = world.sandboxes.use(id, "ann");
  std::string first;
  std::string second;
  world.group.spawn("wait", keep_reason(lease, first));
  world.group.spawn("wait too", keep_reason(lease, second));
  co_await World::turn();
  EXPECT_EQ(first, "");
  co_await world.sandboxes.stop(id, "ann");
  co_await World::turn();
  EXPECT_EQ(first, "the sandbox was stopped");
  EXPECT_EQ(second, first);
  EXPECT_EQ(co_await lease.stopped(), first);
}
TEST(Sandboxes, WhoeverWaitsForTheStopOfASandboxIsToldWhy) {
  check(wait_for_the_stop);
}

Task<> shut_down(World& world) {
  for (int i = 0; i < 5; ++i) co_await world.create(i % 2 == 0 ? "ann" : "bob");
  co_await world.sandboxes.stop_all();
  EXPECT_EQ(world.driver.live_sandboxes(), 0u);
  EXPECT_TRUE(world.sandboxes.list("ann").empty());
  std::optional<Code> code;
  try {
    co_await world.create("ann");
  } catch (const Error& e) {
    code = e.code();
  }
  EXPECT_EQ(code, Code::unavailable);
}
TEST(Sandboxes, StopAllEndsEverythingAndMakesNothingMore) {
  check(shut_down);
}

Task<> shut_down_during_creation(World& world) {
  world.driver.hold_creation();
  world.group.spawn("create", world.create_and_forget());
  co_await World::turn();
  co_await world.sandboxes.stop_all();
  world.driver.let_go();
  co_await World::turn();
  EXPECT_EQ(world.driver.live_sandboxes(), 0u);
  EXPECT_TRUE(world.sandboxes.list("ann").empty());
}
TEST(Sandboxes, ASandboxThatIsReadyAfterTheShutDownIsDropped) {
  check(shut_down_during_creation);
}

}  // namespace
}  // namespace belljar
