#include "tools/parameter.h"

#include <fmt/format.h>

#include <cmath>

#include "base/bytes.h"

namespace belljar::tools {

namespace {

using Type = Parameter::Type;

constexpr double kLowest = std::numeric_limits<double>::lowest();
constexpr double kHighest = std::numeric_limits<double>::max();
constexpr size_t kAny = std::numeric_limits<size_t>::max();

// Whole numbers are written without a fraction: Boost.JSON would print 4.0 as 4E0.
json::value json_number(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e15) {
    return json::value(static_cast<int64_t>(value));
  }
  return json::value(value);
}

const char* type_of(Type type) {
  switch (type) {
    case Type::boolean: return "boolean";
    case Type::integer: return "integer";
    case Type::number: return "number";
    case Type::string:
    case Type::bytes: return "string";
    case Type::array: return "array";
    case Type::map:
    case Type::object: break;
  }
  return "object";
}

json::object schema_of_one(const Parameter& parameter) {
  json::object schema;
  if (parameter.type == Type::object) schema = schema_of(parameter.fields);
  if (parameter.type == Type::bytes) {
    // Not a list of types, which strict validators and some model APIs refuse.
    json::array forms;
    for (const char* form : {"string", "integer"}) forms.emplace_back(json::object{{"type", form}});
    schema["anyOf"] = std::move(forms);
  } else {
    schema["type"] = type_of(parameter.type);
  }
  if (!parameter.description.empty()) schema["description"] = parameter.description;
  if (parameter.type == Type::integer || parameter.type == Type::number) {
    if (parameter.min != kLowest) schema["minimum"] = json_number(parameter.min);
    if (parameter.max != kHighest) schema["maximum"] = json_number(parameter.max);
  }
  if (parameter.type == Type::string) {
    if (parameter.min_length > 0) schema["minLength"] = parameter.min_length;
    // The limit counts bytes, of which a text has at least as many as the characters counted here.
    if (parameter.max_length != kAny) schema["maxLength"] = parameter.max_length;
  }
  if (parameter.type == Type::array) {
    schema["items"] = schema_of_one(parameter.fields.at(0));
    if (parameter.min_length > 0) schema["minItems"] = parameter.min_length;
    if (parameter.max_length != kAny) schema["maxItems"] = parameter.max_length;
  }
  if (parameter.type == Type::map) {
    schema["additionalProperties"] = json::object{{"type", "string"}};
  }
  if (!parameter.choices.empty()) {
    json::array choices;
    for (const std::string& choice : parameter.choices) choices.emplace_back(choice);
    schema["enum"] = std::move(choices);
  }
  if (!parameter.fallback.is_null()) schema["default"] = parameter.fallback;
  return schema;
}

std::string range(const Parameter& parameter, std::string (*print)(double)) {
  const bool from = parameter.min != kLowest;
  const bool to = parameter.max != kHighest;
  if (from && to) return fmt::format(" from {} to {}", print(parameter.min), print(parameter.max));
  if (from) return fmt::format(" of at least {}", print(parameter.min));
  return to ? fmt::format(" of at most {}", print(parameter.max)) : "";
}

std::string print_number(double value) {
  return fmt::format("{}", value);
}
std::string print_bytes(double value) {
  return format_bytes(static_cast<uint64_t>(value));
}

std::string describe_string(const Parameter& parameter) {
  std::string text = parameter.min_length > 0 ? "a non-empty string" : "a string";
  if (!parameter.choices.empty()) {
    text = "one of ";
    for (const std::string& choice : parameter.choices) {
      if (&choice != &parameter.choices.front()) text += ", ";
      text += '"' + choice + '"';
    }
    if (parameter.choices.size() == 1) text = '"' + parameter.choices.front() + '"';
  }
  if (parameter.max_length != kAny) {
    text += fmt::format(" of at most {}", format_bytes(parameter.max_length));
  }
  return text;
}

}  // namespace

json::object schema_of(const std::vector<Parameter>& parameters) {
  json::object properties;
  json::array required;
  for (const Parameter& parameter : parameters) {
    properties[parameter.name] = schema_of_one(parameter);
    if (parameter.required) required.emplace_back(parameter.name);
  }
  json::object schema;
  schema["type"] = "object";
  schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

std::string describe(const Parameter& parameter) {
  switch (parameter.type) {
    case Type::boolean: return "true or false";
    case Type::integer: return "an integer" + range(parameter, print_number);
    case Type::number: return "a number" + range(parameter, print_number);
    case Type::bytes:
      return "an amount such as \"512m\", \"1g\" or a number of bytes," +
             range(parameter, print_bytes);
    case Type::string: return describe_string(parameter);
    case Type::map: return "an object whose values are strings";
    case Type::object: return "an object";
    case Type::array: break;
  }
  std::string text = parameter.min_length > 0 ? "a non-empty array" : "an array";
  if (parameter.max_length != kAny) text += fmt::format(" of at most {}", parameter.max_length);
  return text + " whose items are each " + describe(parameter.fields.at(0));
}

}  // namespace belljar::tools
