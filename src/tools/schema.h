#pragma once

#include "base/json.h"

// The few forms of JSON Schema that the results of the tools need.
namespace belljar::tools {

inline json::object of_type(const char* type) {
  return json::object{{"type", type}};
}

inline json::object nullable(const char* type) {
  json::object schema;
  schema["type"] = json::array{type, "null"};
  return schema;
}

inline json::object array_of(json::object items) {
  json::object schema = of_type("array");
  schema["items"] = std::move(items);
  return schema;
}

// An object in which all these properties are required. More members are accepted, so that those of
// later versions do no harm.
inline json::object all_required(json::object properties) {
  json::array names;
  for (const auto& [name, schema] : properties) names.emplace_back(name);
  json::object result = of_type("object");
  result["properties"] = std::move(properties);
  result["required"] = std::move(names);
  return result;
}

}  // namespace belljar::tools
