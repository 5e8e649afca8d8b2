#include "drivers/linux/spares.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <set>

#include "base/fake_clock.h"
#include "base/testing.h"

namespace belljar::linux_driver {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

std::shared_ptr<LauncherClient> client_of(const asio::any_io_executor& executor, Fd& theirs) {
  int ends[2];
  sys(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "make a pair of sockets");
  theirs.reset(ends[1]);
  LauncherProcess process{Fd{ends[0]},
                          Fd{static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))}};
  return std::make_shared<LauncherClient>(executor, std::move(process));
}

SandboxSpec kind(uint32_t pids) {
  SandboxSpec spec;
  spec.limits.pids = pids;
  return spec;
}

// Spares that are made at once, of a launcher that only listens.
struct World {
  World(const asio::any_io_executor& executor, Spares::Bounds bounds)
      : client{client_of(executor, launcher)},
        spares{executor, clock, bounds,
               [this](SandboxSpec, Spares::Content content) { return make(content); },
               [this](const LinuxSandbox& sandbox) { return stale.count(&sandbox) != 0; }} {}

  Task<std::unique_ptr<LinuxSandbox>> make(Spares::Content content) {
    if (fails) fail(Code::exhausted, "no more");
    ++made;
    auto sandbox = std::make_unique<LinuxSandbox>(client, ++next);
    stale.erase(sandbox.get());  // it may be where another one was
    if (makes_stale || content == Spares::Content::empty) stale.insert(sandbox.get());
    if (on_make) on_make();
    co_return sandbox;
  }

  // A caller who gets a sandbox and is done with it at once.
  bool call(const SandboxSpec& spec) {
    const auto use = spares.begin_use();
    const auto sandbox = spares.take(spec);
    spares.refill(spec);
    return sandbox != nullptr;
  }
  size_t burst(const SandboxSpec& spec, size_t size) {
    size_t found = 0;
    for (size_t i = 0; i < size; ++i) found += call(spec) ? 1 : 0;
    return found;
  }

  // Lets everything that is ready run, and the time pass in small steps.
  static Task<> turn() {
    for (int i = 0; i < 20; ++i) co_await sleep_for(milliseconds{0});
  }
  Task<> advance(std::chrono::steady_clock::duration by) {
    const Clock::Time end = clock.now() + by;
    while (clock.now() < end) {
      clock.advance(std::min<std::chrono::steady_clock::duration>(seconds{1}, end - clock.now()));
      co_await turn();
    }
  }
  // Until whatever there is to be made, replaced or dropped is done.
  Task<> settle() {
    for (int i = 0; i < 100; ++i) {
      clock.advance(Spares::kPause);
      co_await sleep_for(milliseconds{0});
    }
  }

  Fd launcher;
  FakeClock clock;
  std::shared_ptr<LauncherClient> client;
  std::set<const LinuxSandbox*> stale;
  bool makes_stale = false;
  std::function<void()> on_make;
  bool fails = false;
  size_t made = 0;
  uint64_t next = 0;
  Spares spares;
};

constexpr Spares::Bounds kUsual{2, 256 << 20, 4 << 20, 2};

Task<> in_world(Task<> (*body)(World&), Spares::Bounds bounds) {
  World world{co_await asio::this_coro::executor, bounds};
  co_await body(world);
  co_await world.spares.stop();
  EXPECT_EQ(world.spares.ready(), 0u);
  EXPECT_EQ(world.clock.sleepers(), 0u);
}
void check(Task<> (*body)(World&), Spares::Bounds bounds = kUsual) {
  run(in_world(body, bounds));
}

Task<> keep_two(World& world) {
  EXPECT_FALSE(world.call(kind(1)));
  for (int i = 0; i < 10; ++i) {
    co_await world.settle();
    EXPECT_EQ(world.spares.ready(), 2u);
    EXPECT_TRUE(world.call(kind(1)));
    co_await world.advance(seconds{20});
  }
  EXPECT_EQ(world.made, 12u);
}
TEST(Spares, KeepTheLeastForACallerNowAndThen) {
  check(keep_two);
}

Task<> grow(World& world) {
  EXPECT_EQ(world.burst(kind(1), 20), 0u);
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 25u) << "and some head room";
  EXPECT_EQ(world.burst(kind(1), 25), 25u);
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 31u);
}
TEST(Spares, ABurstIsReadyForTheNext) {
  check(grow);
}

Task<> shrink(World& world) {
  world.burst(kind(1), 20);
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 25u);
  co_await world.advance(Demand::kLately - seconds{5});
  EXPECT_EQ(world.spares.ready(), 25u);
  co_await world.advance(seconds{15} + 25 * Spares::kPause);
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 2u) << "nobody wanted more for a minute";
  co_await world.advance(Spares::kForget);
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 0u);
  co_await world.advance(Spares::kLookAgain);
  EXPECT_EQ(world.clock.sleepers(), 0u) << "then there is nothing to look after";
  world.call(kind(1));
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 2u);
}
TEST(Spares, GoWhenNobodyComes) {
  check(shrink);
}

Task<> share(World& world) {
  world.burst(kind(1), 20);
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 10u) << "what the memory is for";
  world.burst(kind(2), 4);
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 10u);
  EXPECT_EQ(world.burst(kind(2), 10), 5u) << "the kind used last has what it wants";
  EXPECT_EQ(world.burst(kind(1), 10), 5u);
}
TEST(Spares, ShareTheMemory) {
  check(share, {2, 40 << 20, 4 << 20, 2});
}

Task<> fill_all(World& world) {
  world.burst(kind(1), 200);
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), Spares::kMost);
}
TEST(Spares, AreNeverTooMany) {
  check(fill_all, {2, uint64_t{1} << 40, 1 << 20, 2});
}

Task<> take_turns(World& world) {
  for (uint32_t i = 0; i < 3 * Spares::kMostKinds; ++i) {
    world.call(kind(i));
    co_await world.settle();
  }
  EXPECT_EQ(world.spares.ready(), 2 * Spares::kMostKinds);
}
TEST(Spares, OfTheKindsUsedLast) {
  check(take_turns);
}

// How long it takes until another one is made.
Task<milliseconds> time_to_make(World& world) {
  const size_t before = world.made;
  milliseconds time{0};
  for (; world.made == before && time < seconds{1}; time += milliseconds{1}) {
    world.clock.advance(milliseconds{1});
    co_await World::turn();
  }
  co_return time;
}

Task<> wait_for_callers(World& world) {
  auto one = world.spares.begin_use();
  world.spares.take(kind(1));
  world.spares.refill(kind(1));
  const milliseconds pause = co_await time_to_make(world);
  EXPECT_EQ(pause, Spares::kPause) << "there is another processor";
  auto two = world.spares.begin_use();
  EXPECT_EQ(world.spares.ready(), 2u);
  for (int i = 0; i < 2; ++i) world.spares.take(kind(1));
  world.spares.refill(kind(1));
  const milliseconds patience = co_await time_to_make(world);
  EXPECT_GE(patience, Spares::kPatience) << "now there is none";
  EXPECT_LE(patience, Spares::kPatience + Spares::kPause) << "but not for ever";
  two.reset();
  const milliseconds rest = co_await time_to_make(world);
  EXPECT_LE(rest, Spares::kPause) << "as soon as one is done";
}
TEST(Spares, AreMadeWhenCallersLeaveAProcessor) {
  check(wait_for_callers);
}

Task<> pass_by(World& world) {
  const auto one = world.spares.begin_use();
  const auto two = world.spares.begin_use();
  world.clock.advance(Spares::kYoung);
  world.call(kind(1));
  const milliseconds pause = co_await time_to_make(world);
  EXPECT_LE(pause, Spares::kPause);
}
TEST(Spares, DoNotWaitForProgramsThatRunForLong) {
  check(pass_by);
}

Task<> starve_not(World& world) {
  size_t calls = 0;
  for (; world.made < 5 && calls < 1000; ++calls) {
    const auto use = world.spares.begin_use();
    world.spares.take(kind(1));
    world.spares.refill(kind(1));
    world.clock.advance(milliseconds{1});
    co_await World::turn();
  }
  EXPECT_LE(calls, 6u * Spares::kPatience.count());
}
TEST(Spares, AreMadeEvenIfThereIsAlwaysACaller) {
  check(starve_not);
}

Task<> replace_stale(World& world) {
  world.makes_stale = true;
  world.call(kind(1));
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 2u);
  EXPECT_EQ(world.made, 2u) << "what is no better is not tried again and again";
  world.makes_stale = false;
  world.spares.look_again();
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 2u);
  EXPECT_EQ(world.made, 4u);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(world.stale.count(world.spares.take(kind(1)).get()), 0u);
}
TEST(Spares, AreReplacedByBetterOnes) {
  check(replace_stale);
}

Task<> overtake(World& world) {
  world.makes_stale = true;
  world.on_make = [&world] {
    if (std::exchange(world.makes_stale, false)) world.spares.look_again();
  };
  world.call(kind(1));
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 2u);
  EXPECT_EQ(world.made, 3u) << "the first one was stale before it was ready";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(world.stale.count(world.spares.take(kind(1)).get()), 0u);
}
TEST(Spares, ThatAreOvertakenWhileTheyAreMadeAreReplaced) {
  check(overtake);
}

Task<> be_brief(World& world) {
  const size_t many = Spares::kFewCallersPerProcessor * kUsual.processors + 1;
  for (size_t i = 0; i < 10 * many; ++i) {
    world.call(kind(1));
    world.clock.advance(Spares::kYoung / (2 * many));
    co_await World::turn();
  }
  const size_t ready = world.spares.ready();
  EXPECT_EQ(world.stale.count(world.spares.take(kind(1)).get()), 1u) << "no time for more";
  co_await world.advance(Spares::kYoung);
  co_await world.settle();
  EXPECT_GE(world.spares.ready(), ready);
  for (size_t i = 0; i < ready; ++i)
    EXPECT_EQ(world.stale.count(world.spares.take(kind(1)).get()), 0u) << "now there is";
}
TEST(Spares, AreEmptyWhileThereAreManyCallers) {
  check(be_brief);
}

Task<> retry(World& world) {
  world.fails = true;
  world.call(kind(1));
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 0u);
  world.fails = false;
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 0u) << "the next caller sees why there is none";
  world.call(kind(1));
  co_await world.settle();
  EXPECT_EQ(world.spares.ready(), 2u);
}
TEST(Spares, AreTriedAgainWhenThereIsACaller) {
  check(retry);
}

Task<> keep_none(World& world) {
  world.burst(kind(1), 20);
  co_await world.settle();
  EXPECT_EQ(world.made, 0u);
}
TEST(Spares, CanBeTurnedOff) {
  check(keep_none, {0, 256 << 20, 4 << 20, 2});
  check(keep_none, {2, 0, 4 << 20, 2});
}

}  // namespace
}  // namespace belljar::linux_driver
