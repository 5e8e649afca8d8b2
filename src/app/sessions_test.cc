#include "app/sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <csignal>
#include <filesystem>

#include "mcp/socket_transport.h"
#include "mcp/testing.h"

namespace belljar::app {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Task<mcp::ToolResult> answer_with(mcp::ToolResult result) {
  co_return result;
}

// A tool sandbox_list that knows these ids.
void add_list(mcp::Server& server, std::vector<std::string> ids) {
  mcp::add_tool(server, "sandbox_list", [ids](const json::object&, mcp::Call&) {
    json::array list;
    for (const std::string& id : ids) list.emplace_back(json::object{{"container_id", id}});
    mcp::ToolResult result;
    result.structured.emplace();
    result.structured->emplace("sandboxes", std::move(list));
    return answer_with(std::move(result));
  });
}

// Two servers with sandboxes, on sockets in a directory of their own.
class TwoServers {
 public:
  explicit TwoServers(const asio::any_io_executor& executor)
      : directory_{make_directory()},
        sockets_{ServerSockets::make(directory_)},
        first_{executor, one_, sockets_.listen("1.sock")},
        second_{executor, two_, sockets_.listen("2.sock")},
        tasks_{executor} {
    std::signal(SIGPIPE, SIG_IGN);
    add_list(one_, {"js-sbx-aa11", "js-sbx-aa2"});
    add_list(two_, {"js-sbx-bb33", "js-sbx-aa22", "js-sbx-bb"});
    mcp::add_tool(one_, "sandbox_stop", mcp::echo);
    tasks_.spawn("first", first_.run());
    tasks_.spawn("second", second_.run());
  }
  ~TwoServers() { std::filesystem::remove_all(directory_); }

  std::vector<ServerSockets::Server> connect() const { return sockets_.connect(); }
  Task<> stop() { return tasks_.stop(); }

 private:
  static std::string make_directory() {
    std::string path = "/tmp/belljar-sessions-XXXXXX";
    return ::mkdtemp(path.data());
  }

  std::string directory_;
  ServerSockets sockets_;
  mcp::Server one_{mcp::demo()};
  mcp::Server two_{mcp::demo()};
  mcp::SocketTransport first_;
  mcp::SocketTransport second_;
  TaskGroup tasks_;
};

// The id of what is found, or the text of the error.
Task<std::string> found(Sessions& sessions, std::string beginning) {
  try {
    const Session session = co_await sessions.find(std::move(beginning));
    co_return fmt::format("{} in {}", session.id, session.server);
  } catch (const Error& e) {
    co_return e.what();
  }
}

Task<> finds() {
  const auto executor = co_await asio::this_coro::executor;
  TwoServers servers{executor};
  Sessions sessions{executor, servers.connect()};
  const auto all = co_await sessions.list();
  EXPECT_THAT(all, SizeIs(5));
  const std::pair<const char*, const char*> cases[] = {
      {"js-sbx-aa11", "js-sbx-aa11 in 1"}, {"aa1", "js-sbx-aa11 in 1"},
      {"bb3", "js-sbx-bb33 in 2"},         {"js-sbx-bb3", "js-sbx-bb33 in 2"},
      {"js-sbx-bb", "js-sbx-bb in 2"},     {"js-sbx-aa2", "js-sbx-aa2 in 1"}};
  for (const auto& [beginning, expected] : cases) {
    const std::string got = co_await found(sessions, beginning);
    EXPECT_EQ(got, expected);
  }
  const std::string two = co_await found(sessions, "aa");
  EXPECT_THAT(two, HasSubstr("more than one sandbox begins with \"aa\": js-sbx-aa11, "));
  for (const char* beginning : {"", "zz", "js-sbx-aa111", "sbx"}) {
    const std::string none = co_await found(sessions, beginning);
    EXPECT_THAT(none, HasSubstr(beginning[0] == '\0' ? "more than one" : "no such sandbox"));
  }
  co_await servers.stop();
}
TEST(Sessions, AreFoundByTheBeginningOfTheirIds) {
  run(finds());
}

Task<> calls() {
  const auto executor = co_await asio::this_coro::executor;
  TwoServers servers{executor};
  Sessions sessions{executor, servers.connect()};
  const Session session = co_await sessions.find("aa11");
  json::object arguments{{"x", 1}};
  const json::object result = co_await call_tool(session, "sandbox_stop", std::move(arguments));
  EXPECT_EQ(text_of(result), R"({"x":1,"container_id":"js-sbx-aa11"})");
  EXPECT_THROW(structured(result), Error);  // echo gives text only
  co_await servers.stop();
}
TEST(Sessions, AreNamedInCallsOfTools) {
  run(calls());
}

Task<> survivors() {
  const auto executor = co_await asio::this_coro::executor;
  TwoServers servers{executor};
  auto links = servers.connect();
  int ends[2];
  sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "make a socket pair");
  Fd{ends[1]}.reset();
  links.push_back({3, Fd{ends[0]}});
  Sessions sessions{executor, std::move(links)};
  const auto all = co_await sessions.list();
  EXPECT_THAT(all, SizeIs(5));
  co_await servers.stop();
}
TEST(Sessions, AreFoundThoughAServerHasJustDied) {
  run(survivors());
}

TEST(Sessions, NeedAServer) {
  asio::io_context context;
  std::string words;
  try {
    Sessions sessions{context.get_executor(), {}};
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::unavailable);
    words = e.what();
  }
  EXPECT_THAT(words, HasSubstr("no belljar server of this user is running"));
}

}  // namespace
}  // namespace belljar::app
