#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/fake_clock.h"
#include "mcp/call_tasks.h"
#include "mcp/testing.h"

// Helpers for the unit tests of the tasks extension only.
namespace belljar::mcp {

inline const std::string kKnowsTasks =
    R"({"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}})";

inline std::string ask_for(std::string_view method, std::string_view members,
                           std::string_view capabilities = kKnowsTasks, std::string_view id = "1") {
  return request(id, method,
                 fmt::format(R"({{{},"_meta":{{"progressToken":"p",)"
                             R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                             R"("io.modelcontextprotocol/clientCapabilities":{}}}}})",
                             members, capabilities));
}

inline std::string call(std::string_view name, std::string_view capabilities = kKnowsTasks) {
  return ask_for("tools/call", fmt::format(R"("name":"{}","arguments":{{"a":1}})", name),
                 capabilities);
}

// A server with tools whose end is in the hands of the test. Several clients talk to it, one after
// the other; tasks go on between them.
class Bench {
 public:
  Bench(asio::any_io_executor executor, TaskOptions options)
      : go{executor}, tasks{executor, clock, options}, executor_{std::move(executor)} {
    add("none", TaskSupport::none);
    add("optional", TaskSupport::optional);
    add("required", TaskSupport::required);
    server.use(tasks);
  }

  void add(std::string name, TaskSupport support) {
    add(std::move(name), support,
        [this](json::object arguments, Call& c) { return work(std::move(arguments), c); });
  }

  void add(std::string name, TaskSupport support, FunctionTool::Function function) {
    ToolInfo info;
    info.name = std::move(name);
    info.tasks = support;
    info.asks = support != TaskSupport::none;
    add_tool(server, std::move(info), std::move(function));
  }

  Task<ToolResult> work(json::object arguments, Call& c) {
    ++running;
    const std::shared_ptr<void> leave{nullptr, [this](void*) { --running; }};
    c.progress("half");
    co_await go.wait();
    ToolResult result;
    result.content.emplace_back(text_block(json::serialize(arguments)));
    co_return result;
  }

  // What a client gets that sends a line, and perhaps another, and then goes without a word.
  Task<std::vector<json::value>> talk(std::string line, std::string owner = "",
                                      std::string next = "") {
    std::vector<json::value> received;
    const auto collect = [&received](const Outgoing& outgoing) {
      if (!outgoing.is_hint()) received.push_back(json::parse(outgoing.text));
    };
    Connection connection{executor_, server, std::move(owner), collect};
    connection.handle(line);
    co_await let_run();
    if (!next.empty()) connection.handle(next);
    co_await let_run();
    co_await connection.stop();
    co_return received;
  }

  // The last message that a client gets for one line.
  Task<json::value> say(std::string line, std::string owner = "") {
    const auto received = co_await talk(std::move(line), std::move(owner));
    co_return received.at(received.size() - 1);
  }

  // The id of the task that a call becomes.
  Task<std::string> begin(std::string name, std::string owner = "") {
    const json::value answer = co_await say(call(name), std::move(owner));
    co_return std::string{answer.at("result").at("taskId").as_string()};
  }

  Task<json::value> look(std::string id, std::string method = "tasks/get",
                         std::string responses = "{}", std::string owner = "") {
    const json::value answer = co_await say(
        ask_for(method, fmt::format(R"("taskId":"{}","inputResponses":{})", id, responses)),
        std::move(owner));
    co_return answer.as_object().contains("result") ? answer.at("result") : answer.at("error");
  }

  int running = 0;
  FakeClock clock;
  Event go;
  Server server{demo()};
  CallTasks tasks;

 private:
  asio::any_io_executor executor_;
};

using Scene = std::function<Task<>(Bench&)>;

inline Task<> play(Scene scene, TaskOptions options) {
  Bench bench{co_await asio::this_coro::executor, options};
  co_await scene(bench);
  co_await bench.tasks.stop();
  EXPECT_EQ(bench.running, 0);
  EXPECT_EQ(bench.clock.sleepers(), 0U);
}

inline TaskOptions at_once() {
  TaskOptions options;
  options.answer_within = milliseconds{0};
  return options;
}

inline void in_scene(Scene scene, TaskOptions options = at_once()) {
  run(play(std::move(scene), options));
}

inline std::string_view status_of(const json::value& task) {
  return task.at("status").as_string();
}

}  // namespace belljar::mcp
