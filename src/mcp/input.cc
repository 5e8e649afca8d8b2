#include "mcp/input.h"

namespace belljar::mcp {

namespace {

// Adds `capability`, or the part of it, to `missing` unless it is declared.
void require(std::string_view capability, std::string_view part, const json::object& declared,
             json::object& missing) {
  const json::object* have = find_object(declared, capability);
  if (have != nullptr && (part.empty() || have->contains(part))) return;
  if (have != nullptr && have->empty() && part == "form") return;
  json::value& entry = missing[capability];
  if (!entry.is_object()) entry.emplace_object();
  if (!part.empty()) entry.get_object()[part].emplace_object();
}

}  // namespace

json::object missing_capabilities(const InputRequired& input, const json::object& declared) {
  json::object missing;
  for (const auto& [name, request] : input.requests) {
    const json::object& params = request.params;
    if (request.method == "elicitation/create") {
      const json::string* mode = find_string(params, "mode");
      const bool by_url = mode != nullptr && *mode == "url";
      require("elicitation", by_url ? "url" : "form", declared, missing);
    } else if (request.method == "sampling/createMessage") {
      const bool with_tools = params.contains("tools") || params.contains("toolChoice");
      require("sampling", with_tools ? "tools" : "", declared, missing);
    } else if (request.method == "roots/list") {
      require("roots", "", declared, missing);
    } else {
      missing[request.method].emplace_object();  // nobody can be asked that
    }
  }
  return missing;
}

json::object as_json(const InputRequest& request) {
  json::object result{{"method", request.method}};
  if (!request.params.empty()) result.emplace("params", request.params);
  return result;
}

json::object as_json(const InputRequired& input) {
  json::object result;
  for (const auto& [name, request] : input.requests) result.emplace(name, as_json(request));
  return result;
}

}  // namespace belljar::mcp
