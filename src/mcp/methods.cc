#include "mcp/methods.h"

#include <exception>

#include "base/log.h"
#include "base/request_context.h"
#include "base/task_group.h"
#include "mcp/completion.h"
#include "mcp/content.h"
#include "mcp/describe.h"
#include "mcp/page.h"
#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

RpcError invalid_params(std::string message) {
  return RpcError{kInvalidParams, std::move(message)};
}

struct Fault {
  Code code = Code::internal;
  std::string message;
};

// The exception in flight, in words for the client. Our own mistakes also go to the log.
Fault current_fault(std::string_view where) {
  Fault fault;
  try {
    throw;
  } catch (const Error& e) {
    fault = Fault{e.code(), e.what()};
  } catch (const std::exception& e) {
    fault.message = e.what();
  } catch (...) {
    fault.message = "unknown exception";
  }
  if (fault.code == Code::internal) {
    if (!is_cancellation(std::current_exception())) log::error("{}: {}", where, fault.message);
    fault.message = "internal error: " + fault.message;
  }
  return fault;
}

// Reads the member `arguments`, which may be absent. False if it is not an object.
bool take_arguments(json::object& params, json::object& arguments) {
  const auto at = params.find("arguments");
  if (at == params.end() || at->value().is_null()) return true;
  if (!at->value().is_object()) return false;
  arguments = std::move(at->value().as_object());
  return true;
}

Task<ToolResult> run_tool(Tool& tool, json::object arguments, Call& call) {
  std::string text;
  try {
    co_return co_await tool.call(std::move(arguments), call);
  } catch (...) {
    text = current_fault(tool.info().name).message;
  }
  ToolResult result;
  result.content.emplace_back(text_block(text));
  result.is_error = true;
  co_return result;
}

Task<Reply> call_tool(const Server& server, json::object params, std::string version, Call& call) {
  const json::string* name = find_string(params, "name");
  if (name == nullptr) co_return invalid_params("name must be a string");
  Tool* tool = server.find_tool(*name);
  if (tool == nullptr) co_return invalid_params("Unknown tool: " + std::string{*name});
  json::object arguments;
  if (!take_arguments(params, arguments)) co_return invalid_params("arguments must be an object");
  ToolResult outcome = co_await run_tool(*tool, std::move(arguments), call);
  adapt_blocks(outcome.content, version);
  json::object result;
  result.emplace("content", std::move(outcome.content));
  if (outcome.structured) result.emplace("structuredContent", std::move(*outcome.structured));
  if (outcome.is_error) result.emplace("isError", true);
  if (!outcome.meta.empty()) result.emplace("_meta", std::move(outcome.meta));
  co_return result;
}

std::optional<RpcError> check_arguments(const PromptInfo& info, const json::object& arguments) {
  for (const auto& argument : arguments) {
    if (!argument.value().is_string()) {
      return invalid_params("Argument must be a string: " + std::string{argument.key()});
    }
  }
  for (const PromptArgument& argument : info.arguments) {
    if (argument.required && !arguments.contains(argument.name)) {
      return invalid_params("Missing required argument: " + argument.name);
    }
  }
  return std::nullopt;
}

Task<Reply> get_prompt(const Server& server, json::object params, std::string version, Call& call) {
  const json::string* name = find_string(params, "name");
  if (name == nullptr) co_return invalid_params("name must be a string");
  Prompt* prompt = server.find_prompt(*name);
  if (prompt == nullptr) co_return invalid_params("Unknown prompt: " + std::string{*name});
  json::object arguments;
  if (!take_arguments(params, arguments)) co_return invalid_params("arguments must be an object");
  if (auto error = check_arguments(prompt->info(), arguments)) co_return std::move(*error);
  PromptResult outcome = co_await prompt->get(std::move(arguments), call);
  for (json::value& message : outcome.messages) {
    if (json::object* object = message.if_object()) adapt_block((*object)["content"], version);
  }
  json::object result;
  if (!outcome.description.empty()) result.emplace("description", outcome.description);
  result.emplace("messages", std::move(outcome.messages));
  co_return result;
}

Task<Reply> list_resources(const Server& server, json::object params, std::string version,
                           Call& call) {
  constexpr std::string_view kHasLastModified = "2025-06-18";
  std::vector<ResourceInfo> all;
  for (const auto& source : server.resources()) {
    auto some = co_await source->list(call);
    all.insert(all.end(), std::move_iterator{some.begin()}, std::move_iterator{some.end()});
  }
  const bool dated = version >= kHasLastModified;
  const auto entry = [&all, dated](size_t i) {
    if (!dated) all[i].last_modified.clear();
    return describe(all[i]);
  };
  co_return make_page("resources", params, server.options().page_size, all.size(), entry);
}

RpcError resource_not_found(std::string_view uri, std::string_view version) {
  const int code = is_modern(version) ? kInvalidParams : kLegacyResourceNotFound;
  return RpcError{code, "Resource not found", json::object{{"uri", uri}}};
}

Task<Reply> read_resource(const Server& server, json::object params, std::string version,
                          Call& call) {
  const json::string* member = find_string(params, "uri");
  if (member == nullptr) co_return invalid_params("uri must be a string");
  const std::string uri{*member};
  std::optional<json::array> contents;
  try {
    for (const auto& source : server.resources()) {
      contents = co_await source->read(uri, call);
      if (contents) break;
    }
  } catch (const Error& e) {
    if (e.code() != Code::not_found) throw;
  }
  if (!contents) co_return resource_not_found(uri, version);
  json::object result;
  result.emplace("contents", std::move(*contents));
  co_return result;
}

Task<Reply> dispatch(const Server& server, const std::string& method, json::object params,
                     const std::string& version, Call& call) {
  if (method == "tools/call") return call_tool(server, std::move(params), version, call);
  if (method == "prompts/get") return get_prompt(server, std::move(params), version, call);
  if (method == "resources/list") return list_resources(server, std::move(params), version, call);
  if (method == "resources/read") return read_resource(server, std::move(params), version, call);
  return complete(server, std::move(params), call);
}

// Tells the client by which id the log and the operator know this request.
void name_request(Reply& reply) {
  auto* result = std::get_if<json::object>(&reply);
  if (result == nullptr || !current_request()) return;
  json::value& meta = (*result)["_meta"];
  if (!meta.is_object()) meta.emplace_object();
  meta.as_object()[kMetaRequestId] = current_request()->id;
}

RpcError as_rpc_error(const Fault& fault) {
  const bool blames_client = fault.code == Code::invalid || fault.code == Code::not_found;
  return RpcError{blames_client ? kInvalidParams : kInternalError, fault.message};
}

}  // namespace

bool is_offered(const Server& server, std::string_view method) {
  if (method == "tools/list" || method == "tools/call") return !server.tools().empty();
  if (method == "prompts/list" || method == "prompts/get") return !server.prompts().empty();
  if (method == "resources/list" || method == "resources/templates/list" ||
      method == "resources/read") {
    return !server.resources().empty();
  }
  return method == "completion/complete" && !server.completers().empty();
}

std::optional<Reply> answer_at_once(const Server& server, const std::string& method,
                                    const json::object& params) {
  const size_t size = server.options().page_size;
  if (method == "tools/list") {
    const auto entry = [&server](size_t i) { return describe(server.tools()[i]->info()); };
    return make_page("tools", params, size, server.tools().size(), entry);
  }
  if (method == "prompts/list") {
    const auto entry = [&server](size_t i) { return describe(server.prompts()[i]->info()); };
    return make_page("prompts", params, size, server.prompts().size(), entry);
  }
  if (method == "resources/templates/list") {
    std::vector<ResourceTemplateInfo> all;
    for (const auto& source : server.resources()) {
      for (ResourceTemplateInfo& info : source->templates()) all.push_back(std::move(info));
    }
    const auto entry = [&all](size_t i) { return describe(all[i]); };
    return make_page("resourceTemplates", params, size, all.size(), entry);
  }
  return std::nullopt;
}

Task<Reply> perform(const Server& server, std::string method, json::object params,
                    std::string version, Call& call) {
  std::optional<Reply> reply;
  try {
    reply = co_await dispatch(server, method, std::move(params), version, call);
  } catch (...) {
    reply = as_rpc_error(current_fault(method));
  }
  name_request(*reply);
  co_return std::move(*reply);
}

}  // namespace belljar::mcp
