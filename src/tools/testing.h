#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/fake_clock.h"
#include "base/task_group.h"
#include "base/testing.h"
#include "drivers/fake/driver.h"
#include "packages/testing.h"
#include "tools/tools.h"

// Helpers for the unit tests of this folder only.
namespace belljar::tools {

// A client's call that keeps what it is told.
class FakeCall final : public mcp::Call {
 public:
  explicit FakeCall(std::string owner = "") : owner_{std::move(owner)} {}

  const std::string& owner() const override { return owner_; }
  bool wants_progress() const override { return wants_progress_; }
  void progress(std::string_view message, double) override { messages.emplace_back(message); }
  void log(mcp::LogLevel, std::string_view, json::value) override {}
  const json::object& client_capabilities() const override { return capabilities_; }
  const json::object& input_responses() const override { return round_.responses; }
  const std::string& request_state() const override { return round_.state; }
  void ask(mcp::InputRequired input) override { round_.question = std::move(input); }
  void ask_for_progress() { wants_progress_ = true; }

  std::vector<std::string> messages;

 private:
  std::string owner_;
  bool wants_progress_ = false;
  json::object capabilities_;
  mcp::InputRound round_;
};

// Knows node:lts-slim (24.1.0), node:22 (22.10.0) and node:20 (20.19.0).
class FakeImages final : public Images {
 public:
  Task<Image> resolve(std::string name, std::function<void(std::string_view)> progress) override {
    progress("looking for " + name);
    Image image;
    image.name = name;
    image.prefix = "/opt/node";
    if (name == "node:lts-slim") image.node_version = "24.1.0";
    if (name == "node:22") image.node_version = "22.10.0";
    if (name == "node:20") image.node_version = "20.19.0";
    if (image.node_version.empty()) fail(Code::not_found, "no image {}", name);
    co_return image;
  }
};

// A host whose npm registry is not there: nothing listens on the discard port.
inline packages::Surroundings host_without_registry() {
  packages::Surroundings host;
  host.prefixes = {};
  host.environment["npm_config_registry"] = "http://127.0.0.1:9/";
  return host;
}

// All tools over a fake driver. The body of a test runs in it by check().
struct World {
  explicit World(const asio::any_io_executor& executor)
      : driver{executor},
        sandboxes{executor, driver, SessionLimits{}, clock},
        packages{executor, registry, clock, directory.path(), packages::PackageRules{}, {}},
        outside{executor, clock},
        group{executor},
        tools{make_tools(
            Context{sandboxes, images, registry, packages, outside, clock, nullptr, Settings{}})} {}

  mcp::Tool& tool(std::string_view name) {
    for (const auto& candidate : tools) {
      if (candidate->info().name == name) return *candidate;
    }
    fail(Code::internal, "no tool {}", name);
  }

  // Calls the tool with arguments given as JSON text.
  Task<mcp::ToolResult> call(std::string name, std::string arguments) {
    co_return co_await tool(name).call(json::parse(arguments).as_object(), caller);
  }

  // The text of the Error with which the call ends; "" if it does not.
  Task<std::string> refusal(std::string name, std::string arguments) {
    try {
      co_await call(std::move(name), std::move(arguments));
    } catch (const Error& e) {
      co_return e.what();
    }
    co_return "";
  }

  Task<std::string> initialize() {
    const mcp::ToolResult result = co_await call("sandbox_initialize", "{}");
    co_return text(result, 0);
  }

  static std::string text(const mcp::ToolResult& result, size_t block) {
    return std::string{result.content.at(block).at("text").as_string()};
  }

  FakeClock clock;
  FakeDriver driver;
  FakeImages images;
  Sandboxes sandboxes;
  packages::Registry registry{host_without_registry()};
  packages::TestDirectory directory;
  packages::PackageSets packages;
  network::Outside outside;
  TaskGroup group;
  std::vector<std::unique_ptr<mcp::Tool>> tools;
  FakeCall caller;
};

inline Task<> in_world(Task<> (*body)(World&)) {
  World world{co_await asio::this_coro::executor};
  try {
    co_await body(world);
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
  co_await world.group.stop();
  co_await world.sandboxes.stop_all();
  co_await world.packages.stop();
  co_await world.outside.stop();
  EXPECT_EQ(world.driver.live_sandboxes(), 0u);
}

inline void check(Task<> (*body)(World&)) {
  run(in_world(body));
}

// The text of the Error that the function throws; "" if it does not.
template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace belljar::tools
