#include "drivers/docker/agent_listener.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>

#include "base/id.h"
#include "base/posix.h"
#include "base/task_group.h"
#include "base/testing.h"
#include "drivers/docker/agent/packet.h"

namespace belljar::docker {
namespace {

class AgentListenerTest : public testing::Test {
 protected:
  AgentListenerTest() {
    make_directories(path_);
    directory_ = open_directory(path_);
  }
  ~AgentListenerTest() override { std::filesystem::remove_all(path_); }

  std::string socket_path() const { return path_ + "/" + agent::kSocketName; }

  Fd connect() const {
    Fd socket{sys(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), "make a socket")};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket_path().c_str(), sizeof address.sun_path - 1);
    sys(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), "connect");
    return socket;
  }

  Fd connect_and_say_hello(uint32_t version) const {
    Fd socket = connect();
    agent::Hello hello{};
    hello.version = version;
    const int fds[] = {directory_.get()};
    EXPECT_EQ(agent::send_packet(socket.get(), &hello, sizeof hello, fds), 0);
    return socket;
  }

  Task<> accept_the_right_one();
  Task<> give_up();

  const std::string path_ = testing::TempDir() + "belljar-listener-" + random_hex(8);
  Fd directory_;
};

Task<> AgentListenerTest::accept_the_right_one() {
  AgentListener listener{co_await asio::this_coro::executor, directory_.get()};
  struct stat info {};
  EXPECT_EQ(::stat(socket_path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0666u) << "the container's user may be anybody";
  { const Fd silent = connect(); }
  const Fd wrong = connect_and_say_hello(agent::kVersion + 1);
  const Fd right = connect_and_say_hello(agent::kVersion);
  const Fd late = connect_and_say_hello(agent::kVersion);
  const auto client = co_await listener.accept();
  EXPECT_EQ(client->hello().pid, ::getpid());
  EXPECT_TRUE(client->hello().workspace);
  EXPECT_TRUE(client->alive());
  EXPECT_FALSE(std::filesystem::exists(socket_path())) << "programs cannot find it";
  char byte = 0;
  EXPECT_EQ(::recv(wrong.get(), &byte, 1, 0), 0) << "it was sent away";
  client->kill(1);
  EXPECT_EQ(::recv(right.get(), &byte, 1, 0), 1);
}

TEST_F(AgentListenerTest, TakesTheFirstThatSaysHello) {
  run(accept_the_right_one());
}

Task<> AgentListenerTest::give_up() {
  AgentListener listener{co_await asio::this_coro::executor, directory_.get()};
  const Fd silent = connect();
  const auto client = co_await with_timeout(milliseconds{1}, listener.accept());
  EXPECT_FALSE(client);
}

TEST_F(AgentListenerTest, LeavesNothingWhenNobodyComes) {
  run(give_up());
  EXPECT_TRUE(std::filesystem::is_empty(path_));
}

}  // namespace
}  // namespace belljar::docker
