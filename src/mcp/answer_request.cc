#include "mcp/answer_request.h"

#include "mcp/call_tasks.h"
#include "mcp/input_rounds.h"
#include "mcp/methods.h"
#include "mcp/protocol.h"
#include "mcp/request_state.h"

namespace belljar::mcp {

namespace {

TaskSupport task_support(const Server& server, std::string_view method,
                         const json::object& params) {
  if (method != "tools/call" || server.tasks() == nullptr) return TaskSupport::none;
  const json::string* name = find_string(params, "name");
  const Tool* tool = name != nullptr ? server.find_tool(*name) : nullptr;
  return tool != nullptr ? tool->info().tasks : TaskSupport::none;
}

Task<Reply> perform_modern(const Server& server, std::string method, json::object params,
                           ActiveCall& call) {
  const TaskSupport support = task_support(server, method, params);
  const bool known = knows_tasks(call.client_capabilities());
  if (support == TaskSupport::required && !known) {
    co_return missing_capability(tasks_capability());
  }
  if (support == TaskSupport::none || !known) {
    co_return co_await perform(server, std::move(method), std::move(params), call.version(), call);
  }
  co_return co_await server.tasks()->perform(server, std::move(params), call);
}

Task<Reply> answer_modern(const Server& server, std::string method, json::object params,
                          ActiveCall& call) {
  if (!may_ask(server, method, params)) {
    co_return co_await perform_modern(server, std::move(method), std::move(params), call);
  }
  const std::string binding = bind_request(call.owner(), method, params);
  if (auto error = take_round(server, binding, params, call.round())) co_return std::move(*error);
  Reply reply = co_await perform_modern(server, std::move(method), std::move(params), call);
  const auto question = std::exchange(call.round().question, std::nullopt);
  if (!question) co_return reply;
  co_return ask_by_result(server, binding, *question, call.client_capabilities());
}

}  // namespace

Task<Reply> answer_request(const Server& server, ClientRequests& client, std::string method,
                           json::object params, ActiveCall& call) {
  if (is_modern(call.version())) {
    return answer_modern(server, std::move(method), std::move(params), call);
  }
  if (may_ask(server, method, params)) {
    return perform_rounds(server, client, std::move(method), std::move(params), call);
  }
  return perform(server, std::move(method), std::move(params), call.version(), call);
}

}  // namespace belljar::mcp
