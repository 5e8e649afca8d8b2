#include "mcp/describe.h"

namespace belljar::mcp {

namespace {

void put(json::object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.emplace(key, text);
}

json::object describe_argument(const PromptArgument& argument) {
  json::object result{{"name", argument.name}};
  put(result, "title", argument.title);
  put(result, "description", argument.description);
  result.emplace("required", argument.required);
  return result;
}

}  // namespace

json::object describe(const ToolInfo& info) {
  json::object result{{"name", info.name}};
  put(result, "title", info.title);
  put(result, "description", info.description);
  // The schema is required, and a client rejects the whole list over one that is empty.
  const json::object no_arguments{{"type", "object"}, {"additionalProperties", false}};
  result.emplace("inputSchema", info.input_schema.empty() ? no_arguments : info.input_schema);
  if (!info.output_schema.empty()) result.emplace("outputSchema", info.output_schema);
  result.emplace("annotations",
                 json::object{{"readOnlyHint", info.read_only},
                              {"destructiveHint", info.destructive && !info.read_only},
                              {"idempotentHint", info.idempotent},
                              {"openWorldHint", info.open_world}});
  return result;
}

json::object describe(const PromptInfo& info) {
  json::object result{{"name", info.name}};
  put(result, "title", info.title);
  put(result, "description", info.description);
  if (!info.arguments.empty()) {
    json::array arguments;
    for (const PromptArgument& argument : info.arguments) {
      arguments.emplace_back(describe_argument(argument));
    }
    result.emplace("arguments", std::move(arguments));
  }
  return result;
}

json::object describe(const ResourceInfo& info) {
  json::object result{{"uri", info.uri}, {"name", info.name}};
  put(result, "title", info.title);
  put(result, "description", info.description);
  put(result, "mimeType", info.mime_type);
  if (info.size) result.emplace("size", *info.size);
  if (!info.last_modified.empty()) {
    result.emplace("annotations", json::object{{"lastModified", info.last_modified}});
  }
  return result;
}

json::object describe(const ResourceTemplateInfo& info) {
  json::object result{{"uriTemplate", info.uri_template}, {"name", info.name}};
  put(result, "title", info.title);
  put(result, "description", info.description);
  put(result, "mimeType", info.mime_type);
  return result;
}

}  // namespace belljar::mcp
