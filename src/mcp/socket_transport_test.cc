#include "mcp/socket_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <csignal>

#include "mcp/client.h"
#include "mcp/testing.h"

namespace belljar::mcp {
namespace {

using testing::HasSubstr;

Fd make_socket() {
  return Fd{sys(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket")};
}

// A listening socket with a name that the kernel chose, and that everybody may connect to.
struct Listener {
  Listener() {
    address.sun_family = AF_UNIX;
    const auto* any = reinterpret_cast<const sockaddr*>(&address);
    sys(::bind(fd.get(), any, sizeof(sa_family_t)), "bind");
    size = sizeof address;
    sys(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), "read the name");
    sys(::listen(fd.get(), 64), "listen");
  }

  Fd connect() const {
    Fd client = make_socket();
    sys(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), size), "connect");
    return client;
  }

  Fd fd = make_socket();
  sockaddr_un address{};
  socklen_t size = 0;
};

// A server on a socket for the time of a test.
struct Serving {
  explicit Serving(const asio::any_io_executor& executor, SocketOptions options = {})
      : tasks{executor}, transport{executor, server, std::move(listener.fd), options} {
    std::signal(SIGPIPE, SIG_IGN);
    add_tool(server, "echo", echo);
    add_tool(server, "wait", wait_forever);
    tasks.spawn("serve", transport.run());
  }

  Server server{demo()};
  Listener listener;
  TaskGroup tasks;
  SocketTransport transport;
};

std::string text_of(const json::object& result) {
  return std::string{result.at("content").at(0).at("text").as_string()};
}

Task<> two_clients() {
  const auto executor = co_await asio::this_coro::executor;
  Serving serving{executor};
  Client one{executor, serving.listener.connect()};
  Client two{executor, serving.listener.connect()};
  for (int round = 0; round < 2; ++round) {
    for (Client* client : {&one, &two}) {
      json::object arguments{{"n", round}};
      const json::object result = co_await client->call_tool("echo", std::move(arguments));
      EXPECT_EQ(text_of(result), fmt::format(R"({{"n":{}}})", round));
    }
  }
  EXPECT_EQ(serving.transport.clients(), 2u);
  co_await serving.tasks.stop();
}
TEST(SocketTransport, ServesSeveralClientsAtOnce) {
  run(two_clients());
}

Task<std::string> failure(Client& client, std::string tool) {
  json::object none;
  try {
    co_await client.call_tool(std::move(tool), std::move(none));
  } catch (const Error& e) {
    co_return e.what();
  }
  co_return "";
}

Task<> unknown_tool() {
  const auto executor = co_await asio::this_coro::executor;
  Serving serving{executor};
  Client client{executor, serving.listener.connect()};
  const std::string words = co_await failure(client, "nothing");
  EXPECT_EQ(words, "Unknown tool: nothing");
  const std::string none = co_await failure(client, "echo");
  EXPECT_EQ(none, "");
  co_await serving.tasks.stop();
}
TEST(SocketTransport, PassesTheServersErrorsOn) {
  run(unknown_tool());
}

Task<> too_many() {
  const auto executor = co_await asio::this_coro::executor;
  SocketOptions options;
  options.max_clients = 1;
  Serving serving{executor, options};
  std::optional<Client> first;
  first.emplace(executor, serving.listener.connect());
  const std::string none = co_await failure(*first, "echo");
  EXPECT_EQ(none, "");
  Client second{executor, serving.listener.connect()};
  const std::string words = co_await failure(second, "echo");
  EXPECT_THAT(words, HasSubstr("hung up"));
  first.reset();
  while (serving.transport.clients() > 0) co_await let_run();
  Client third{executor, serving.listener.connect()};
  const std::string again = co_await failure(third, "echo");
  EXPECT_EQ(again, "");
  co_await serving.tasks.stop();
}
TEST(SocketTransport, TurnsAwayMoreClientsThanItMayHave) {
  run(too_many());
}

Task<> stops() {
  const auto executor = co_await asio::this_coro::executor;
  Serving serving{executor};
  Client client{executor, serving.listener.connect()};
  TaskGroup calls{executor};
  std::string words;
  const auto keep = [](Client& at, std::string& result) -> Task<> {
    result = co_await failure(at, "wait");
  };
  calls.spawn("call", keep(client, words));
  while (serving.transport.clients() == 0) co_await let_run();
  co_await serving.tasks.stop();
  EXPECT_EQ(serving.transport.clients(), 0u);
  co_await calls.finish();
  EXPECT_THAT(words, HasSubstr("hung up"));
}
TEST(SocketTransport, EndsConnectionsAndTheirCallsWhenItIsCancelled) {
  run(stops());
}

// What a process of the user nobody gets: 0 if it is hung up on without a word, else 1.
int visit_as_nobody(const Listener& listener) {
  constexpr uid_t kNobody = 65534;
  if (::setresuid(kNobody, kNobody, kNobody) != 0) return 2;
  const Fd client = make_socket();
  const auto* address = reinterpret_cast<const sockaddr*>(&listener.address);
  if (::connect(client.get(), address, listener.size) != 0) return 3;
  const std::string ping = request("1", "ping") + "\n";
  [[maybe_unused]] const ssize_t sent = ::write(client.get(), ping.data(), ping.size());
  char answer = 0;
  return ::read(client.get(), &answer, 1) <= 0 ? 0 : 1;
}

Task<int> stranger() {
  const auto executor = co_await asio::this_coro::executor;
  Serving serving{executor};
  const pid_t child = ::fork();
  if (child == 0) ::_exit(visit_as_nobody(serving.listener));
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  asio::posix::stream_descriptor ended{executor, pidfd};
  co_await ended.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
  int status = 0;
  ::waitpid(child, &status, 0);
  co_await serving.tasks.stop();
  co_return WEXITSTATUS(status);
}
TEST(SocketTransport, HangsUpOnAProcessOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(run(stranger()), 0);
}

}  // namespace
}  // namespace belljar::mcp
