#include "tools/tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing.h"

namespace belljar::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

std::string with_id(const std::string& id, const std::string& more) {
  return fmt::format(R"({{"container_id":"{}"{}}})", id, more);
}

// Enough of JSON Schema for the schemas that the tools write.
void expect_conforms(const json::value& value, const json::value& schema, const std::string& path) {
  const auto is = [&value](std::string_view type) {
    return (type == "string" && value.is_string()) || (type == "boolean" && value.is_bool()) ||
           (type == "integer" && (value.is_int64() || value.is_uint64())) ||
           (type == "null" && value.is_null()) || (type == "array" && value.is_array()) ||
           (type == "object" && value.is_object());
  };
  const json::value& type = schema.at("type");
  bool fits = false;
  if (type.is_string()) fits = is(type.as_string());
  if (type.is_array()) {
    for (const json::value& one : type.as_array()) fits = fits || is(one.as_string());
  }
  EXPECT_TRUE(fits) << path << " is " << json::serialize(value);
  if (value.is_array() && schema.as_object().contains("items")) {
    for (const json::value& item : value.as_array()) {
      expect_conforms(item, schema.at("items"), path + "[]");
    }
  }
  if (!value.is_object() || !schema.as_object().contains("properties")) return;
  for (const json::value& name : schema.at("required").as_array()) {
    EXPECT_TRUE(value.as_object().contains(name.as_string())) << path << "." << name;
  }
  for (const auto& [name, member] : value.as_object()) {
    const json::object& known = schema.at("properties").as_object();
    EXPECT_TRUE(known.contains(name)) << path << "." << name;
    if (known.contains(name))
      expect_conforms(member, known.at(name), path + "." + std::string{name});
  }
}

void expect_conforms(World& world, const char* tool, const mcp::ToolResult& result) {
  expect_conforms(json::value(result.structured.value()),
                  json::value(world.tool(tool).info().output_schema), tool);
}

Task<> descriptions(World& world) {
  std::vector<std::string> names;
  for (const auto& tool : world.tools) {
    const mcp::ToolInfo& info = tool->info();
    names.push_back(info.name);
    EXPECT_FALSE(info.title.empty());
    EXPECT_GT(info.description.size(), 80u) << info.name;
    EXPECT_EQ(info.input_schema.at("type"), "object");
    EXPECT_EQ(info.output_schema.at("type"), "object");
    const bool asks_registry =
        info.name == "get_dependency_types" || info.name == "search_npm_packages";
    const bool runs_programs =
        info.name == "run_js_ephemeral" || info.name == "run_js" || info.name == "sandbox_exec";
    EXPECT_EQ(info.open_world, asks_registry || runs_programs) << info.name;
    const bool looks = info.name == "sandbox_list" || info.name == "sandbox_logs" ||
                       info.name == "sandbox_read_file" || info.name == "sandbox_list_files";
    EXPECT_EQ(info.read_only, asks_registry || looks) << info.name;
  }
  EXPECT_THAT(names, ElementsAre("run_js_ephemeral", "sandbox_initialize", "run_js", "sandbox_exec",
                                 "sandbox_stop", "sandbox_list", "sandbox_logs",
                                 "sandbox_write_files", "sandbox_read_file", "sandbox_list_files",
                                 "get_dependency_types", "search_npm_packages"));
  co_return;
}
TEST(Tools, AreDescribed) {
  check(descriptions);
}

Task<> ephemeral(World& world) {
  const mcp::ToolResult result = co_await world.call(
      "run_js_ephemeral", R"({"code":"print hello\nenv K\nargs\necho stdin","args":["a"],
                              "env":{"K":"v"},"stdin":"input","limits":{"memory":"128m"},
                              "dependencies":[],"network":"none"})");
  EXPECT_FALSE(result.is_error);
  EXPECT_EQ(World::text(result, 0), "Node.js process output:\nhello\nv\na\ninput");
  EXPECT_THAT(World::text(result, 1), StartsWith("Telemetry:\n{"));
  EXPECT_EQ(world.driver.specs().at(0).limits.memory, 128u << 20);
  EXPECT_EQ(world.driver.specs().at(0).image.name, "node:lts-slim");
  EXPECT_EQ(world.driver.live_sandboxes(), 0u);
  EXPECT_TRUE(world.caller.messages.empty() || !world.caller.wants_progress());
  expect_conforms(world, "run_js_ephemeral", result);
}
TEST(RunJsEphemeral, RunsInAFreshSandboxAndDestroysIt) {
  check(ephemeral);
}

Task<> failures(World& world) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"code":"stderr oops\nexit 3"})", "what it printed says why.\nstderr:\noops\n"},
      {R"({"code":"hang","timeoutMs":1})", "ETIMEDOUT: the program did not end within 1 ms"},
      {R"({"code":"oom"})", "ran out of memory and was killed: the sandbox may use 512 MiB"},
      {R"({"code":"signal 11"})", "killed by SIGSEGV"},
  };
  for (const auto& [arguments, text] : cases) {
    const mcp::ToolResult result = co_await world.call("run_js_ephemeral", arguments);
    EXPECT_TRUE(result.is_error);
    EXPECT_THAT(World::text(result, 0), StartsWith("Error during execution: "));
    EXPECT_THAT(World::text(result, 0), HasSubstr(text));
    expect_conforms(world, "run_js_ephemeral", result);
  }
  EXPECT_EQ(world.driver.live_sandboxes(), 0u);
}
TEST(RunJsEphemeral, ReportsHowAProgramFailed) {
  check(failures);
}

Task<> bad_input(World& world) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "argument \"code\" is missing"},
      {R"({"code":""})", "argument \"code\" is \"\""},
      {R"({"code":"a\u0000"})", "argument \"code\" contains a NUL character"},
      {R"({"code":"x","image":"node:99"})", "no image node:99"},
      {R"({"code":"x","image":"--privileged"})", "argument \"image\" is \"--privileged\""},
      {R"({"code":"x","dependencies":[{"name":"a","version":"git+ssh://a/b"}]})",
       "argument \"dependencies[0].version\" is \"git+ssh://a/b\""},
      {R"({"code":"x","dependencies":[{"name":"a"}]})", "argument \"dependencies[0].version\""},
      {R"({"code":"x","network":"host"})", "the operator allows at most \"internet\""},
      {R"({"code":"x","env":{"LD_PRELOAD":"x"}})", "argument \"env\" sets LD_PRELOAD"},
      {R"({"code":"x","language":"typescript","image":"node:20"})", "needs Node.js 22.6 or newer"},
      {R"({"code":"x","container_id":"y"})", "argument \"container_id\" is unknown"},
  };
  for (const auto& [arguments, text] : cases) {
    const std::string refusal = co_await world.refusal("run_js_ephemeral", arguments);
    EXPECT_THAT(refusal, HasSubstr(text));
  }
  EXPECT_TRUE(world.driver.specs().empty()) << "a sandbox was made for a call that cannot be";
}
TEST(RunJsEphemeral, RefusesBadInputBeforeItMakesASandbox) {
  check(bad_input);
}

Task<> typescript(World& world) {
  co_await world.call("run_js_ephemeral", R"({"code":"print t","language":"typescript",
                                              "image":"node:22"})");
  EXPECT_THAT(world.driver.commands().at(0).argv,
              ElementsAre("/usr/local/bin/node", "--experimental-strip-types",
                          "--disable-warning=ExperimentalWarning", "/workspace/index.ts"));
}
TEST(RunJsEphemeral, RunsTypeScript) {
  check(typescript);
}

Task<> progress(World& world) {
  world.caller.ask_for_progress();
  co_await world.call("run_js_ephemeral", R"({"code":"print one\nstderr two"})");
  EXPECT_THAT(world.caller.messages, ElementsAre("looking for node:lts-slim", "one\n", "two\n"));
}
TEST(RunJsEphemeral, SendsOutputAsProgress) {
  check(progress);
}

Task<> session(World& world) {
  const mcp::ToolResult made = co_await world.call("sandbox_initialize", "{}");
  EXPECT_EQ(made.content.size(), 1u);
  expect_conforms(world, "sandbox_initialize", made);
  const std::string id = World::text(made, 0);
  EXPECT_THAT(id, MatchesRegex("js-sbx-[0-9a-f-]{36}"));

  const mcp::ToolResult first = co_await world.call("run_js", with_id(id, R"(,"code":"touch f")"));
  EXPECT_FALSE(first.is_error);
  const mcp::ToolResult second =
      co_await world.call("run_js", with_id(id, R"(,"code":"exists f")"));
  EXPECT_EQ(World::text(second, 0), "Node.js process output:\ntrue\n");
  expect_conforms(world, "run_js", second);

  const mcp::ToolResult list = co_await world.call("sandbox_list", "{}");
  EXPECT_THAT(World::text(list, 0),
              StartsWith(id + "  node:lts-slim (Node.js 24.1.0), made 1970-"));
  expect_conforms(world, "sandbox_list", list);

  const mcp::ToolResult stopped = co_await world.call("sandbox_stop", with_id(id, ""));
  EXPECT_EQ(World::text(stopped, 0), "Container " + id + " removed.");
  expect_conforms(world, "sandbox_stop", stopped);
  const mcp::ToolResult none = co_await world.call("sandbox_list", "{}");
  EXPECT_EQ(World::text(none, 0), "No live sandboxes.");
  const std::string gone = co_await world.refusal("run_js", with_id(id, R"(,"code":"x")"));
  EXPECT_THAT(gone, StartsWith("no such sandbox: " + id));
}
TEST(Session, LivesFromInitializeToStop) {
  check(session);
}

Task<> session_refusals(World& world) {
  const std::string id = co_await world.initialize();
  const std::string port = co_await world.refusal("sandbox_initialize", R"({"port":80})");
  EXPECT_EQ(port, "argument \"port\" is 80; it must be 0 or an integer from 1024 to 65535");
  const std::string listen =
      co_await world.refusal("run_js", with_id(id, R"(,"code":"x","listenOnPort":"8080:80")"));
  EXPECT_THAT(listen, StartsWith("argument \"listenOnPort\" is \"8080:80\"; it must be"));
  const std::string limits =
      co_await world.refusal("run_js", with_id(id, R"(,"code":"x","limits":{"pids":20})"));
  EXPECT_THAT(limits, StartsWith("argument \"limits.pids\" differs from that of the sandbox"));
  for (const char* tool : {"run_js", "sandbox_exec", "sandbox_stop"}) {
    const std::string rest = tool == std::string{"run_js"}         ? R"(,"code":"x")"
                             : tool == std::string{"sandbox_exec"} ? R"(,"commands":["x"])"
                                                                   : "";
    for (const char* bad : {"", "--help", "x; touch /tmp/pwn", "a\\u0000b", "a\\nb"}) {
      const std::string refusal = co_await world.refusal(tool, with_id(bad, rest));
      EXPECT_EQ(refusal, "Invalid container ID") << bad;
    }
    const std::string unknown = co_await world.refusal(tool, with_id("js-sbx-1", rest));
    EXPECT_THAT(unknown, StartsWith("no such sandbox: js-sbx-1"));
  }
}
TEST(Session, RefusesWhatCannotBe) {
  check(session_refusals);
}

Task<> foreign_sandbox(World& world) {
  const std::string id = co_await world.initialize();
  FakeCall stranger{"stranger"};
  std::string refusal;
  json::object sent;
  sent["container_id"] = id;
  try {
    co_await world.tool("sandbox_stop").call(sent, stranger);
  } catch (const Error& e) {
    refusal = e.what();
  }
  EXPECT_THAT(refusal, StartsWith("no such sandbox: " + id));
  const mcp::ToolResult list = co_await world.tool("sandbox_list").call(json::object(), stranger);
  EXPECT_EQ(World::text(list, 0), "No live sandboxes.");
  EXPECT_EQ(world.driver.live_sandboxes(), 1u);
}
TEST(Session, IsNotSeenByOthers) {
  check(foreign_sandbox);
}

Task<> keep_result(World& world, std::string arguments, std::optional<mcp::ToolResult>& result) {
  result = co_await world.call("run_js", std::move(arguments));
}

Task<> concurrent_runs(World& world) {
  const std::string id = co_await world.initialize();
  std::optional<mcp::ToolResult> first;
  world.group.spawn("first",
                    keep_result(world, with_id(id, R"(,"code":"source\nawait f")"), first));
  co_await sleep_for(milliseconds{0});
  const mcp::ToolResult second =
      co_await world.call("run_js", with_id(id, R"(,"code":"source\ntouch f")"));
  EXPECT_EQ(World::text(second, 0), "Node.js process output:\n/workspace/index-2.js\n");
  while (!first) co_await sleep_for(milliseconds{0});
  EXPECT_EQ(World::text(*first, 0), "Node.js process output:\n/workspace/index.js\n");
  const mcp::ToolResult third = co_await world.call("run_js", with_id(id, R"(,"code":"source")"));
  EXPECT_EQ(World::text(third, 0), "Node.js process output:\n/workspace/index.js\n");
}
TEST(RunJs, GivesProgramsThatRunAtTheSameTimeFilesOfTheirOwn) {
  check(concurrent_runs);
}

Task<> stopped_run(World& world) {
  const std::string id = co_await world.initialize();
  std::optional<mcp::ToolResult> result;
  world.group.spawn("run",
                    keep_result(world, with_id(id, R"(,"code":"print begun\nhang")"), result));
  co_await sleep_for(milliseconds{0});
  co_await world.call("sandbox_stop", with_id(id, ""));
  while (!result) co_await sleep_for(milliseconds{0});
  EXPECT_TRUE(result->is_error);
  EXPECT_EQ(World::text(*result, 0),
            "Error during execution: the program was cancelled: the sandbox was stopped\n"
            "stdout:\nbegun\n");
}
TEST(RunJs, TellsThatTheSandboxWasStopped) {
  check(stopped_run);
}

Task<> exec(World& world) {
  const std::string id = co_await world.initialize();
  const mcp::ToolResult result = co_await world.call(
      "sandbox_exec", with_id(id, R"(,"commands":["print a","write b","write c"])"));
  EXPECT_FALSE(result.is_error);
  EXPECT_EQ(World::text(result, 0), "a\n\nb\nc");
  expect_conforms(world, "sandbox_exec", result);
  EXPECT_EQ(result.structured->at("results").as_array().size(), 3u);
}
TEST(SandboxExec, JoinsTheOutputsByNewlines) {
  check(exec);
}

Task<> exec_failure(World& world) {
  const std::string id = co_await world.initialize();
  const mcp::ToolResult result = co_await world.call(
      "sandbox_exec", with_id(id, R"(,"commands":["write a","stderr no\nexit 2","print never"])"));
  EXPECT_TRUE(result.is_error);
  EXPECT_EQ(World::text(result, 0),
            "Error during execution: the command \"stderr no\nexit 2\" exited with code 2\n"
            "stdout:\na\n\nstderr:\nno\n");
  EXPECT_EQ(result.structured->at("results").as_array().size(), 2u);
  const mcp::ToolResult late = co_await world.call(
      "sandbox_exec", with_id(id, R"(,"commands":["write a","hang"],"timeoutMs":1)"));
  EXPECT_THAT(World::text(late, 0), HasSubstr("ETIMEDOUT: the command \"hang\""));
  const std::string empty =
      co_await world.refusal("sandbox_exec", with_id(id, R"(,"commands":[])"));
  EXPECT_THAT(empty, StartsWith("argument \"commands\" is []; it must be a non-empty array"));
  const std::string blank =
      co_await world.refusal("sandbox_exec", with_id(id, R"(,"commands":["a",""])"));
  EXPECT_THAT(blank, StartsWith("argument \"commands[1]\" is \"\"; it must be a non-empty string"));
}
TEST(SandboxExec, StopsAtTheFirstFailure) {
  check(exec_failure);
}

Task<> exec_bombs(World& world) {
  const std::string id = co_await world.initialize();
  const mcp::ToolResult result = co_await world.call(
      "sandbox_exec", with_id(id, R"(,"commands":["spam 9000000","spam 9000000","spam 9000000"])"));
  EXPECT_FALSE(result.is_error);
  EXPECT_LT(World::text(result, 0).size(), (1u << 20) + 10000);
}
TEST(SandboxExec, SharesTheOutputLimitBetweenTheCommands) {
  check(exec_bombs);
}

}  // namespace
}  // namespace belljar::tools
