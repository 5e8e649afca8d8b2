#include "mcp/input_rounds.h"

#include <fmt/format.h>

#include "mcp/methods.h"
#include "mcp/protocol.h"
#include "mcp/request_state.h"

namespace belljar::mcp {

namespace {

constexpr int kMaxRounds = 10;  // as many as the official clients do

// Why a legacy client was not, or in vain, asked: a tool says so in its result.
Reply in_vain(std::string_view method, RpcError error) {
  if (method != "tools/call") return error;
  json::object result;
  result.emplace("content", json::array{text_block(error.message)});
  result.emplace("isError", true);
  return result;
}

Task<Reply> ask_client(ClientRequests& client, InputRequired question, ActiveCall& call) {
  const json::object missing = missing_capabilities(question, call.client_capabilities());
  if (!missing.empty()) {
    co_return RpcError{kInvalidParams,
                       fmt::format("This needs an answer that this client cannot give: it did not "
                                   "declare the capabilities {}",
                                   json::serialize(missing))};
  }
  co_return co_await client.ask(std::move(question), call.version(), call.send());
}

}  // namespace

bool may_ask(const Server& server, std::string_view method, const json::object& params) {
  if (method == "prompts/get" || method == "resources/read") return true;
  const json::string* name = method == "tools/call" ? find_string(params, "name") : nullptr;
  const Tool* tool = name != nullptr ? server.find_tool(*name) : nullptr;
  return tool != nullptr && tool->info().asks;
}

RpcError missing_capability(json::object required) {
  json::object data;
  data.emplace("requiredCapabilities", std::move(required));
  return RpcError{kMissingCapability, "Missing required client capability", std::move(data)};
}

std::optional<RpcError> take_round(const Server& server, const std::string& binding,
                                   const json::object& params, InputRound& round) {
  if (const json::value* responses = find(params, "inputResponses")) {
    if (!responses->is_object()) {
      return RpcError{kInvalidParams, "inputResponses must be an object"};
    }
    round.responses = responses->get_object();
  }
  const json::value* sealed = find(params, "requestState");
  if (sealed == nullptr) return std::nullopt;
  std::optional<std::string> state;
  if (const json::string* text = sealed->if_string()) {
    state = server.request_states().open(binding, *text, std::chrono::steady_clock::now());
  }
  if (!state) {
    return RpcError{kInvalidParams,
                    "requestState is not valid for this request, or too old: leave it and "
                    "inputResponses out to begin again"};
  }
  round.state = std::move(*state);
  return std::nullopt;
}

Reply ask_by_result(const Server& server, const std::string& binding, const InputRequired& question,
                    const json::object& capabilities) {
  json::object missing = missing_capabilities(question, capabilities);
  if (!missing.empty()) return missing_capability(std::move(missing));
  json::object result{{"resultType", "input_required"}};
  if (!question.requests.empty()) result.emplace("inputRequests", as_json(question));
  // One of both has to be there.
  if (!question.state.empty() || question.requests.empty()) {
    const auto now = std::chrono::steady_clock::now();
    result.emplace("requestState", server.request_states().seal(binding, question.state, now));
  }
  return result;
}

Task<Reply> perform_rounds(const Server& server, ClientRequests& client, std::string method,
                           json::object params, ActiveCall& call) {
  for (int round = 0; round < kMaxRounds; ++round) {
    Reply reply = co_await perform(server, method, params, call.version(), call);
    auto question = std::exchange(call.round().question, std::nullopt);
    if (!question) co_return reply;
    std::string state = std::move(question->state);
    Reply answers = co_await ask_client(client, std::move(*question), call);
    if (auto* error = std::get_if<RpcError>(&answers)) co_return in_vain(method, std::move(*error));
    call.round().responses = std::move(std::get<json::object>(answers));
    call.round().state = std::move(state);
  }
  co_return in_vain(
      method, RpcError{kInternalError, fmt::format("{} questions were not enough", kMaxRounds)});
}

}  // namespace belljar::mcp
