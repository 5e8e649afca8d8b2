#pragma once

#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/testing.h"
#include "mcp/connection.h"
#include "mcp/server.h"

// Helpers for unit tests only: small features, and a client that talks to them.
namespace belljar::mcp {

// The `_meta` members of a complete modern request, without the braces.
inline const std::string kMeta =
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},)"
    R"("io.modelcontextprotocol/clientCapabilities":{})";

// A tool made of a function.
class FunctionTool final : public Tool {
 public:
  using Function = std::function<Task<ToolResult>(json::object, Call&)>;
  FunctionTool(ToolInfo info, Function function)
      : info_{std::move(info)}, function_{std::move(function)} {}
  const ToolInfo& info() const override { return info_; }
  Task<ToolResult> call(json::object arguments, Call& call) override {
    return function_(std::move(arguments), call);
  }

 private:
  ToolInfo info_;
  Function function_;
};

inline Task<ToolResult> echo(json::object arguments, Call&) {
  ToolResult result;
  result.content.emplace_back(text_block(json::serialize(arguments)));
  co_return result;
}

inline Task<ToolResult> wait_forever(json::object, Call&) {
  co_await sleep_for(std::chrono::hours{1});
  co_return ToolResult{};
}

inline void add_tool(Server& server, ToolInfo info, FunctionTool::Function function) {
  server.add(std::make_unique<FunctionTool>(std::move(info), std::move(function)));
}

inline void add_tool(Server& server, std::string name, FunctionTool::Function function) {
  ToolInfo info;
  info.name = std::move(name);
  add_tool(server, std::move(info), std::move(function));
}

// Lets everything that is ready on the loop run.
inline Task<> let_run() {
  const auto executor = co_await asio::this_coro::executor;
  for (int turn = 0; turn < 100; ++turn) co_await asio::post(executor, asio::use_awaitable);
}

// What a client does next: send a line, or wait for something to happen in the server.
using Step = std::variant<std::string, std::function<void(Server&, Connection&)>>;

inline Task<std::vector<json::value>> converse(Server& server, std::vector<Step> steps) {
  std::vector<json::value> received;
  const auto collect = [&received](const Outgoing& outgoing) {
    if (!outgoing.is_hint()) received.push_back(json::parse(outgoing.text));
  };
  Connection connection{co_await asio::this_coro::executor, server, "", collect};
  for (const Step& step : steps) {
    if (const auto* line = std::get_if<std::string>(&step)) {
      connection.handle(*line);
    } else {
      std::get<1>(step)(server, connection);
    }
    co_await let_run();
  }
  co_await connection.stop();
  co_return received;
}

// Everything the server says to a client that takes these steps, in order.
inline std::vector<json::value> talk(Server& server, std::vector<Step> steps) {
  return run(converse(server, std::move(steps)));
}

inline ServerInfo demo() {
  return ServerInfo{"demo", "1.0.0", "", ""};
}

inline std::string request(std::string_view id, std::string_view method,
                           std::string_view params = "{}") {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method,
                     params);
}

// `members` are those of `params` beside `_meta`, e.g. R"("name":"x")".
inline std::string modern(std::string_view id, std::string_view method,
                          std::string_view members = "", std::string_view more_meta = "") {
  return request(id, method,
                 fmt::format(R"({{{}{}"_meta":{{{}{}{}}}}})", members, members.empty() ? "" : ",",
                             more_meta, more_meta.empty() ? "" : ",", kMeta));
}

inline std::string notification(std::string_view method, std::string_view params = "{}") {
  return fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params);
}

inline std::string initialize(std::string_view version) {
  return request("0", "initialize",
                 fmt::format(R"({{"protocolVersion":"{}","capabilities":{{}},)"
                             R"("clientInfo":{{"name":"c","version":"1"}}}})",
                             version));
}

}  // namespace belljar::mcp
