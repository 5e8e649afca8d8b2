#include "drivers/docker/carried_agent.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/posix.h"
#include "base/testing.h"

namespace belljar::docker {
namespace {

// A container's side of a stream, which the test plays.
struct Container {
  explicit Container(const asio::any_io_executor& executor) {
    int ends[2];
    sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), "a stream");
    stream.reset(ends[0]);
    agent::Carrier::Host host{open_directory("/"), Fd{}, false};
    agent = std::make_unique<CarriedAgent>(executor, Fd{ends[1]}, std::move(host));
  }

  void say(std::string_view message, agent::CarriedPacket carried) const {
    agent::FrameQueue frames;
    std::string bytes(reinterpret_cast<const char*>(&carried), sizeof carried);
    frames.add(agent::FrameType::packet, 0, bytes.append(message));
    const std::string_view all = frames.unsent();
    sys(::send(stream.get(), all.data(), all.size(), MSG_NOSIGNAL), "speak");
  }

  void say_hello() const {
    agent::Hello hello{};
    hello.version = agent::kVersion;
    agent::CarriedPacket carried{};
    carried.fds = 1;
    carried.places[0].kind = agent::ChannelKind::directory;
    say({reinterpret_cast<const char*>(&hello), sizeof hello}, carried);
  }

  Fd stream;
  std::unique_ptr<CarriedAgent> agent;
};

Task<> greet() {
  Container container{co_await asio::this_coro::executor};
  container.say_hello();
  const auto client = co_await container.agent->accept();
  EXPECT_TRUE(client);
  if (!client) co_return;
  EXPECT_EQ(client->hello().way, Way::carried);
  EXPECT_TRUE(client->hello().workspace) << "belljar's own";
}

TEST(CarriedAgent, SaysHello) {
  run(greet());
}

Task<> refuse_others() {
  Container container{co_await asio::this_coro::executor};
  container.say("no hello", {});
  EXPECT_FALSE(co_await container.agent->accept());
  Container silent{co_await asio::this_coro::executor};
  silent.stream.reset();
  EXPECT_FALSE(co_await silent.agent->accept());
}

TEST(CarriedAgent, IsNobodyElse) {
  run(refuse_others());
}

// How a program ends that runs when the stream does; `early`: before anybody wants to be told.
Task<> end_with_stream(bool early) {
  const auto executor = co_await asio::this_coro::executor;
  Container container{executor};
  container.say_hello();
  const auto client = co_await container.agent->accept();
  EXPECT_TRUE(client);
  Event told{executor};
  if (early) {
    container.stream.reset();
    while (client->alive()) co_await sleep_for(milliseconds{0});
  }
  container.agent->on_end([&told] { told.set(); });
  container.stream.reset();
  co_await told.wait();
  if (early) co_return;
  EXPECT_TRUE(client->alive()) << "it is told how";
  ProgramEnd end;
  client->on_end(1, [&end](const ProgramEnd& how) { end = how; });
  client->lose(true);
  EXPECT_FALSE(client->alive());
  EXPECT_TRUE(end.out_of_memory);
}

TEST(CarriedAgent, IsLostWithItsStreamForAReason) {
  run(end_with_stream(false));
}

TEST(CarriedAgent, TellsOfAnEndThatCameBefore) {
  run(end_with_stream(true));
}

}  // namespace
}  // namespace belljar::docker
