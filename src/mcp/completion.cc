#include "mcp/completion.h"

#include <algorithm>

#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

RpcError invalid_params(std::string message) {
  return RpcError{kInvalidParams, std::move(message)};
}

std::variant<CompletionRequest, RpcError> read_completion(const json::object& params) {
  const json::object* ref = find_object(params, "ref");
  const json::object* argument = find_object(params, "argument");
  if (ref == nullptr || argument == nullptr) {
    return invalid_params("ref and argument must be objects");
  }
  const json::string* type = find_string(*ref, "type");
  const bool is_prompt = type != nullptr && *type == "ref/prompt";
  const bool is_resource = type != nullptr && *type == "ref/resource";
  if (!is_prompt && !is_resource) {
    return invalid_params("ref.type must be ref/prompt or ref/resource");
  }
  const json::string* name = find_string(*ref, is_prompt ? "name" : "uri");
  const json::string* key = find_string(*argument, "name");
  const json::string* value = find_string(*argument, "value");
  if (name == nullptr || key == nullptr || value == nullptr) {
    return invalid_params("ref and argument must name what to complete");
  }
  CompletionRequest request;
  using Kind = CompletionRequest::Kind;
  request.kind = is_prompt ? Kind::prompt : Kind::resource;
  request.name = std::string_view{*name};
  request.argument = std::string_view{*key};
  request.value = std::string_view{*value};
  if (const json::object* context = find_object(params, "context")) {
    if (const json::object* resolved = find_object(*context, "arguments")) {
      request.resolved = *resolved;
    }
  }
  return request;
}

json::object describe_completion(const Completion& completion) {
  constexpr size_t kMost = 100;  // the protocol's limit
  json::array values;
  for (const std::string& value : completion.values) {
    if (values.size() < kMost) values.emplace_back(value);
  }
  const size_t total = std::max(completion.total, completion.values.size());
  const bool more = total > values.size();
  json::object body;
  body.emplace("values", std::move(values));
  body.emplace("total", total);
  body.emplace("hasMore", more);
  json::object result;
  result.emplace("completion", std::move(body));
  return result;
}

}  // namespace

Task<Reply> complete(const Server& server, json::object params, Call& call) {
  auto parsed = read_completion(params);
  if (auto* error = std::get_if<RpcError>(&parsed)) co_return std::move(*error);
  const auto& request = std::get<CompletionRequest>(parsed);
  const bool is_prompt = request.kind == CompletionRequest::Kind::prompt;
  if (is_prompt && server.find_prompt(request.name) == nullptr) {
    co_return invalid_params("Unknown prompt: " + request.name);
  }
  for (const auto& completer : server.completers()) {
    const auto completion = co_await completer->complete(request, call);
    if (completion) co_return describe_completion(*completion);
  }
  co_return describe_completion(Completion{});
}

}  // namespace belljar::mcp
