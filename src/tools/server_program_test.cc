#include "tools/server_program.h"

#include <gmock/gmock.h>

#include <boost/asio/ip/tcp.hpp>

#include "tools/publishing.h"
#include "tools/testing.h"

namespace belljar::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ServerProgram, FindsThePortsThatSomethingListensOn) {
  constexpr const char* kTable =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000\n"
      "   1: 0100007F:A002 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000\n"
      "  sl  local_address                         remote_address                        st\n"
      "   0: 00000000000000000000000000000000:0BB8 00000000000000000000000000000000:0000 0A 0\n"
      "   1: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 0\n";
  EXPECT_THAT(listening_ports(kTable), ElementsAre(3000, 8080));
  EXPECT_THAT(listening_ports(""), ElementsAre());
  EXPECT_THAT(listening_ports("   0: 0100007F:"), ElementsAre());
  EXPECT_THAT(listening_ports("   0: 0100007F:1F90 0000:"), ElementsAre());
}

// A port that is free on the host for the moment.
uint16_t free_port(const asio::any_io_executor& executor) {
  asio::ip::tcp::acceptor acceptor{executor, {asio::ip::address_v4::loopback(), 0}};
  return acceptor.local_endpoint().port();
}

std::string run_arguments(const std::string& id, const std::string& script, uint16_t port) {
  json::object arguments;
  arguments["container_id"] = id;
  arguments["code"] = script;
  arguments["listenOnPort"] = port;
  arguments["timeoutMs"] = 200;
  return json::serialize(arguments);
}

Task<> starts(World& world) {
  const std::string id = co_await world.initialize();
  const uint16_t port = free_port(co_await asio::this_coro::executor);
  const std::string script = fmt::format("listen {}\nprint up\nhang", port);
  const mcp::ToolResult result = co_await world.call("run_js", run_arguments(id, script, port));
  EXPECT_FALSE(result.is_error);
  const std::string text{result.content.at(0).at("text").as_string()};
  EXPECT_THAT(text, HasSubstr("Server started in background; logs at "));
  EXPECT_EQ(result.structured->at("background").at("port").to_number<int>(), port);

  const std::string container = "{\"container_id\":\"" + id + "\"";
  const mcp::ToolResult logs = co_await world.call("sandbox_logs", container + "}");
  EXPECT_EQ(logs.structured->at("text").as_string(), "up\n");
  EXPECT_TRUE(logs.structured->at("running").as_bool());
  const mcp::ToolResult more = co_await world.call("sandbox_logs", container + ",\"cursor\":3}");
  EXPECT_EQ(more.structured->at("text").as_string(), "");

  const std::string again = co_await world.refusal("run_js", run_arguments(id, script, port));
  EXPECT_THAT(again, HasSubstr("listens on port"));
  const std::string other = co_await world.initialize();
  const std::string taken = co_await world.refusal("run_js", run_arguments(other, script, port));
  EXPECT_THAT(taken, HasSubstr("is taken by another program or sandbox"));
}
TEST(ServerProgram, LeavesAServerRunningWithItsOutputInTheLogs) {
  check(starts);
}

Task<> chooses(World& world) {
  const std::string id = co_await world.initialize();
  const std::string script = "env PORT\nlisten $PORT\nhang";
  std::set<int64_t> ports;
  for (int round = 0; round < 2; ++round) {
    const mcp::ToolResult result = co_await world.call("run_js", run_arguments(id, script, 0));
    EXPECT_FALSE(result.is_error);
    const json::value& background = result.structured->at("background");
    const auto port = background.at("port").to_number<int64_t>();
    ports.insert(port);
    EXPECT_EQ(background.at("url").as_string(), fmt::format("http://127.0.0.1:{}/", port));
    EXPECT_THAT(World::text(result, 0), HasSubstr(fmt::format("http://127.0.0.1:{}/", port)));
    const mcp::ToolResult logs =
        co_await world.call("sandbox_logs", "{\"container_id\":\"" + id + "\"}");
    EXPECT_EQ(logs.structured->at("text").as_string(), fmt::format("{}\n", port));
  }
  EXPECT_EQ(ports.size(), 2u);
  const mcp::ToolResult list = co_await world.call("sandbox_list", "{}");
  const json::value& listed = list.structured->at("sandboxes").at(0).at("ports");
  EXPECT_EQ(listed, json::value(json::array(ports.begin(), ports.end())));
}
TEST(ServerProgram, GetsAPortThatIsFreeAndFindsItInItsEnvironment) {
  check(chooses);
}

Task<> chooses_again(World& world) {
  const std::string id = co_await world.initialize();
  for (int round = 0; round < 40; ++round) {  // more than a sandbox may have ports
    const mcp::ToolResult result = co_await world.call("run_js", run_arguments(id, "exit 1", 0));
    EXPECT_TRUE(result.is_error);
  }
  const mcp::ToolResult list = co_await world.call("sandbox_list", "{}");
  EXPECT_EQ(list.structured->at("sandboxes").at(0).at("ports").as_array().size(), 1u);
}
TEST(ServerProgram, GetsThePortOfOneThatHasEnded) {
  check(chooses_again);
}

Task<> own_variable(World& world) {
  const std::string id = co_await world.initialize();
  json::object arguments = json::parse(run_arguments(id, "exit 0", 0)).as_object();
  arguments["env"] = json::object{{"PORT", "8080"}};
  EXPECT_THAT(co_await world.refusal("run_js", json::serialize(arguments)),
              HasSubstr("\"env\" sets PORT, too"));
}
TEST(ServerProgram, MayNotSetPortItselfIfBelljarChoosesIt) {
  check(own_variable);
}

Task<> too_many_ports(World& world) {
  const auto executor = co_await asio::this_coro::executor;
  const std::string id = co_await world.initialize();
  const Lease lease = world.sandboxes.use(id, world.caller.owner());
  const asio::ip::address loopback = asio::ip::address_v4::loopback();
  const auto publish = [&lease, &loopback, &executor](uint16_t port) {
    return publish_port(lease, port, loopback, executor);
  };
  uint16_t last = 0;
  for (int number = 0; number < 32; ++number) last = publish(0);
  EXPECT_THAT(error_of([&publish] { publish(0); }),
              HasSubstr("32 published ports, which is the limit"));
  EXPECT_EQ(publish(last), last) << "one that is published already";
}
TEST(ServerProgram, GetsNoPortWhenTheSandboxHasTooMany) {
  check(too_many_ports);
}

Task<> of_session(World& world) {
  const mcp::ToolResult made = co_await world.call("sandbox_initialize", R"({"port":0})");
  const std::string id = World::text(made, 0);
  const json::array& ports = made.structured->at("ports").as_array();
  EXPECT_EQ(ports.size(), 1u);
  const std::string port = std::to_string(ports.at(0).to_number<int>());
  const auto sees = [&id](std::string_view env) {
    return fmt::format(R"({{"container_id":"{}","code":"env PORT","env":{{{}}}}})", id, env);
  };
  const mcp::ToolResult own = co_await world.call("run_js", sees(""));
  EXPECT_EQ(own.structured->at("stdout").as_string(), port + "\n");
  const mcp::ToolResult set = co_await world.call("run_js", sees(R"("PORT":"9999")"));
  EXPECT_EQ(set.structured->at("stdout").as_string(), "9999\n");
  const std::string exec = fmt::format(R"({{"container_id":"{}","commands":["env PORT"]}})", id);
  const mcp::ToolResult executed = co_await world.call("sandbox_exec", exec);
  EXPECT_EQ(World::text(executed, 0), port + "\n");
}
TEST(ServerProgram, FindsThePortOfItsSessionInItsEnvironment) {
  check(of_session);
}

Task<> dies(World& world) {
  const std::string id = co_await world.initialize();
  const uint16_t port = free_port(co_await asio::this_coro::executor);
  const mcp::ToolResult result =
      co_await world.call("run_js", run_arguments(id, "stderr no such module\nexit 1", port));
  EXPECT_TRUE(result.is_error);
  const std::string text{result.content.at(0).at("text").as_string()};
  EXPECT_THAT(text, HasSubstr("ended before it listened on port"));
  EXPECT_THAT(text, HasSubstr("no such module"));
}
TEST(ServerProgram, ShowsTheOutputOfAProgramThatDiesInsteadOfListening) {
  check(dies);
}

Task<> never(World& world) {
  const std::string id = co_await world.initialize();
  const uint16_t port = free_port(co_await asio::this_coro::executor);
  const mcp::ToolResult result =
      co_await world.call("run_js", run_arguments(id, "print waiting\nhang", port));
  EXPECT_TRUE(result.is_error);
  const std::string text{result.content.at(0).at("text").as_string()};
  EXPECT_THAT(text, HasSubstr("ETIMEDOUT: the program did not listen on port"));
  EXPECT_THAT(text, HasSubstr("waiting"));
  // The fake has no /bin/cat, so nobody can say that nothing listens.
  EXPECT_THAT(text, HasSubstr("what it listens on instead could not be found out"));
  EXPECT_EQ(world.driver.live_processes(), 0u);
}
TEST(ServerProgram, KillsAProgramThatNeverListens) {
  check(never);
}

}  // namespace
}  // namespace belljar::tools
