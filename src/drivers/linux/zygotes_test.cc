#include "drivers/linux/zygotes.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/fake_clock.h"
#include "base/testing.h"

namespace belljar::linux_driver {
namespace {

Command program() {
  Command command;
  command.argv = {"/usr/local/bin/node", "/workspace/index.js", "argument"};
  command.source = SourceFile{"/workspace/index.js", "1"};
  return command;
}

TEST(Zygotes, CopyPlainPrograms) {
  Command command = program();
  EXPECT_TRUE(can_be_copy(command));
  command.env = {{"TZ", "Europe/Berlin"}, {"PORT", "1"}, {"MY_NODE_OPTIONS", "x"}};
  EXPECT_TRUE(can_be_copy(command));
}

TEST(Zygotes, LeaveWhatChangesHowNodeStartsToNode) {
  for (const char* name : {"NODE_DEBUG", "NODE_EXTRA_CA_CERTS", "UV_THREADPOOL_SIZE", "LD_PRELOAD",
                           "SSL_CERT_FILE", "LC_ALL", "LANG", "OPENSSL_CONF"}) {
    Command command = program();
    command.env = {{name, "x"}};
    EXPECT_FALSE(can_be_copy(command)) << name;
  }
  Command with_flag = program();
  with_flag.argv.insert(with_flag.argv.begin() + 1, "--expose-gc");
  EXPECT_FALSE(can_be_copy(with_flag));
}

TEST(Zygotes, CopyNothingButProgramsOfNode) {
  Command other = program();
  other.argv[0] = "/bin/sh";
  EXPECT_FALSE(can_be_copy(other));
  Command without_source = program();
  without_source.source.reset();
  EXPECT_FALSE(can_be_copy(without_source));
  Command bare;
  bare.argv = {"/usr/local/bin/node"};
  EXPECT_FALSE(can_be_copy(bare));
}

using launcher::Reply;
using launcher::ReplyType;
using launcher::Request;
using std::chrono::minutes;
using std::chrono::seconds;

NodeKind kind(uint32_t pids) {
  NodeKind kind{1, {}};
  kind.limits.pids = pids;
  return kind;
}

Task<bool> passed() {
  co_return true;
}

// Zygotes of a launcher that this test plays.
struct World {
  World(const asio::any_io_executor& executor, NodeStart way)
      : client{connect(executor)}, zygotes{executor, client, clock,
                                           way,      100,    [](NodeKind) { return passed(); }} {
    zygotes.on_ready([this] { ++became_ready; });
  }

  std::shared_ptr<LauncherClient> connect(const asio::any_io_executor& executor) {
    int ends[2];
    sys(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "make a pair of sockets");
    launcher.reset(ends[1]);
    LauncherProcess process{Fd{ends[0]},
                            Fd{static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))}};
    return std::make_shared<LauncherClient>(executor, std::move(process));
  }

  // What the launcher has been asked for since the last time.
  std::vector<Request> requests() const {
    std::vector<Request> all;
    Request request{};
    while (::recv(launcher.get(), &request, sizeof request, MSG_DONTWAIT) == sizeof request)
      all.push_back(request);
    return all;
  }
  Request only_request() const {
    const auto all = requests();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Request{} : all.front();
  }
  Task<> answer(ReplyType type, uint32_t serial, uint64_t number) const {
    Reply reply{};
    reply.type = type;
    reply.serial = serial;
    reply.sandbox = number;
    reply.error = type == ReplyType::failed ? EAGAIN : 0;
    EXPECT_EQ(::send(launcher.get(), &reply, sizeof reply, 0), ssize_t{sizeof reply});
    co_await turn();
  }
  Task<> start(NodeKind what, uint64_t number) {
    zygotes.want(what);
    co_await answer(ReplyType::done, only_request().serial, number);
  }

  static Task<> turn() {
    for (int i = 0; i < 20; ++i) co_await sleep_for(milliseconds{0});
  }
  Task<> advance(seconds by) {
    clock.advance(by);
    co_await turn();
  }

  Fd launcher;
  FakeClock clock;
  std::shared_ptr<LauncherClient> client;
  int became_ready = 0;
  Zygotes zygotes;
};

Task<> in_world(Task<> (*body)(World&), NodeStart way) {
  World world{co_await asio::this_coro::executor, way};
  co_await body(world);
  co_await world.zygotes.stop();
}
void check(Task<> (*body)(World&), NodeStart way = NodeStart::automatic) {
  run(in_world(body, way));
}

Task<> start_one(World& world) {
  world.zygotes.want(kind(1));
  world.zygotes.want(kind(1));
  EXPECT_FALSE(world.zygotes.are_ready(kind(1)));
  const Request request = world.only_request();
  EXPECT_EQ(request.type, launcher::RequestType::zygote);
  EXPECT_EQ(request.flags, 0u);
  co_await world.answer(ReplyType::done, request.serial, 5);
  EXPECT_EQ(world.zygotes.current(kind(1)), 5u);
  EXPECT_EQ(world.zygotes.current(kind(2)), 0u);
  EXPECT_EQ(world.became_ready, 1);
}
TEST(Zygotes, AreStartedOnce) {
  check(start_one);
}

Task<> start_none(World& world) {
  world.zygotes.want(kind(1));
  co_await World::turn();
  EXPECT_TRUE(world.requests().empty());
}
TEST(Zygotes, AreNotStartedWhereProgramsAreExecuted) {
  check(start_none, NodeStart::exec);
}

Task<> renew_by_count(World& world) {
  co_await world.start(kind(1), 5);
  for (int i = 0; i < 99; ++i) world.zygotes.count_copy(kind(1));
  EXPECT_TRUE(world.requests().empty());
  for (int i = 0; i < 10; ++i) world.zygotes.count_copy(kind(1));
  const Request request = world.only_request();
  EXPECT_EQ(request.flags, uint32_t{launcher::kRenew});
  EXPECT_EQ(world.zygotes.current(kind(1)), 5u) << "the old one serves until then";
  co_await world.answer(ReplyType::done, request.serial, 6);
  EXPECT_EQ(world.zygotes.current(kind(1)), 6u);
  EXPECT_EQ(world.became_ready, 2);
  world.zygotes.count_copy(kind(1));
  EXPECT_TRUE(world.requests().empty()) << "it counts from the beginning";
}
TEST(Zygotes, AreRenewedAfterSoManyCopies) {
  check(renew_by_count);
}

Task<> renew_by_age(World& world) {
  co_await world.start(kind(1), 5);
  co_await world.advance(Zygotes::kMostAge - seconds{1});
  world.zygotes.want(kind(1));
  EXPECT_TRUE(world.requests().empty());
  co_await world.advance(seconds{1});
  EXPECT_EQ(world.only_request().flags, uint32_t{launcher::kRenew});
}
TEST(Zygotes, AreRenewedWhenTheyAreOld) {
  check(renew_by_age);
}

Task<> fail_to_renew(World& world) {
  co_await world.start(kind(1), 5);
  for (int i = 0; i < 100; ++i) world.zygotes.count_copy(kind(1));
  co_await world.answer(ReplyType::failed, world.only_request().serial, 0);
  EXPECT_EQ(world.zygotes.current(kind(1)), 5u) << "the old one serves on";
  world.zygotes.count_copy(kind(1));
  EXPECT_TRUE(world.requests().empty()) << "not at once";
  co_await world.advance(Zygotes::kPause);
  world.zygotes.count_copy(kind(1));
  EXPECT_EQ(world.only_request().flags, uint32_t{launcher::kRenew});
}
TEST(Zygotes, ThatCannotBeRenewedServeOn) {
  check(fail_to_renew);
}

Task<> retire(World& world) {
  co_await world.start(kind(1), 5);
  co_await world.advance(Zygotes::kMostIdle - seconds{1});
  EXPECT_TRUE(world.requests().empty());
  co_await world.advance(seconds{1});
  EXPECT_EQ(world.only_request().flags, uint32_t{launcher::kRetire}) << "and has no successor";
  EXPECT_FALSE(world.zygotes.are_ready(kind(1)));
  co_await world.advance(seconds{1});
  EXPECT_EQ(world.clock.sleepers(), 0u) << "then there is nothing to look after";
  co_await world.start(kind(1), 6);
  EXPECT_EQ(world.zygotes.current(kind(1)), 6u);
}
TEST(Zygotes, EndWhenNobodyUsesThem) {
  check(retire);
}

Task<> crowd(World& world) {
  for (uint32_t i = 0; i < Zygotes::kMostKinds; ++i) {
    co_await world.start(kind(i), i + 1);
    co_await world.advance(seconds{1});
  }
  world.zygotes.want(kind(0));
  world.zygotes.want(kind(100));
  const auto requests = world.requests();
  EXPECT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests.front().flags, uint32_t{launcher::kRetire});
  EXPECT_EQ(requests.front().limits.pids, 1u) << "of the kind that was not used for longest";
  EXPECT_TRUE(world.zygotes.are_ready(kind(0)));
}
TEST(Zygotes, AreOfTheKindsUsedLast) {
  check(crowd);
}

Task<> die(World& world) {
  co_await world.start(kind(1), 5);
  co_await world.answer(ReplyType::zygote_died, 0, 4);
  EXPECT_TRUE(world.zygotes.are_ready(kind(1))) << "that was another one";
  co_await world.answer(ReplyType::zygote_died, 0, 5);
  EXPECT_FALSE(world.zygotes.are_ready(kind(1)));
  EXPECT_TRUE(world.requests().empty());
  co_await world.start(kind(1), 6);
  EXPECT_TRUE(world.zygotes.are_ready(kind(1)));
}
TEST(Zygotes, ThatDieAreStartedAgainWhenTheyAreWanted) {
  check(die);
}

}  // namespace
}  // namespace belljar::linux_driver
