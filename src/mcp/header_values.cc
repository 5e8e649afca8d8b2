#include "mcp/header_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/utf8.h"
#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

constexpr std::string_view kEncodedBegin = "=?base64?";
constexpr std::string_view kEncodedEnd = "?=";

std::string_view without_white_space(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

RpcError mismatch(std::string message) {
  return RpcError{kHeaderMismatch, std::move(message)};
}

// Numbers are compared as numbers: a client may write 7 in one place and 7.0 in the other.
bool is_same_number(const json::value& argument, const std::string& header) {
  boost::system::error_code error;
  const json::value parsed = json::parse(header, error);
  if (error || !parsed.is_number()) return false;
  if (argument == parsed) return true;
  if (!argument.is_double() && !parsed.is_double()) return false;
  return argument.to_number<double>() == parsed.to_number<double>();
}

// An argument of any other type cannot be in a header at all.
bool is_same(const json::value& argument, const std::string& header) {
  if (argument.is_string()) return argument.get_string() == header;
  if (argument.is_bool()) return header == (argument.get_bool() ? "true" : "false");
  return argument.is_number() && is_same_number(argument, header);
}

std::optional<RpcError> check_param(std::string_view property, const json::value& argument,
                                    std::string_view suffix, const HeaderLookup& header) {
  const std::string name = fmt::format("Mcp-Param-{}", suffix);
  const auto raw = header(name);
  if (!raw) {
    return mismatch(
        fmt::format("The header {} is missing: it must repeat the argument {}", name, property));
  }
  const auto value = decode_header_value(*raw);
  if (!value) return mismatch(fmt::format("The header {} is not well-formed", name));
  if (is_same(argument, *value)) return std::nullopt;
  return mismatch(fmt::format("The header {} differs from the argument {}", name, property));
}

}  // namespace

std::optional<std::string> decode_header_value(std::string_view raw) {
  const std::string_view text = without_white_space(raw);
  if (!std::ranges::all_of(text, is_printable)) return std::nullopt;
  const bool encoded = text.size() >= kEncodedBegin.size() + kEncodedEnd.size() &&
                       text.starts_with(kEncodedBegin) && text.ends_with(kEncodedEnd);
  if (!encoded) return std::string{text};
  const std::string_view inner =
      text.substr(kEncodedBegin.size(), text.size() - kEncodedBegin.size() - kEncodedEnd.size());
  auto bytes = parse_base64(inner);
  // What decodes to the same bytes in two ways could pass a proxy as one and us as the other.
  if (!bytes || base64(*bytes) != inner || !is_utf8(*bytes)) return std::nullopt;
  return bytes;
}

std::optional<std::string_view> name_to_repeat(std::string_view method,
                                               const json::object& params) {
  std::string_view key;
  if (method == "tools/call" || method == "prompts/get") key = "name";
  if (method == "resources/read") key = "uri";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") key = "taskId";
  const json::string* value = key.empty() ? nullptr : find_string(params, key);
  if (value == nullptr) return std::nullopt;
  return std::string_view{*value};
}

std::optional<RpcError> check_name_header(std::string_view method, const json::object& params,
                                          const HeaderLookup& header) {
  const auto expected = name_to_repeat(method, params);
  if (!expected) return std::nullopt;
  const auto raw = header("Mcp-Name");
  if (!raw) return mismatch("The header Mcp-Name is missing");
  const auto value = decode_header_value(*raw);
  if (!value) return mismatch("The header Mcp-Name is not well-formed");
  if (*value == *expected) return std::nullopt;
  return mismatch("The header Mcp-Name differs from the request");
}

std::optional<RpcError> check_param_headers(const json::object& input_schema,
                                            const json::object& arguments,
                                            const HeaderLookup& header) {
  const json::object* properties = find_object(input_schema, "properties");
  if (properties == nullptr) return std::nullopt;
  for (const auto& [property, schema] : *properties) {
    const json::value* argument = find(arguments, property);
    const json::object* rules = schema.if_object();
    if (argument == nullptr || argument->is_null() || rules == nullptr) continue;
    std::optional<RpcError> error;
    if (const json::string* suffix = find_string(*rules, "x-mcp-header")) {
      error = check_param(property, *argument, *suffix, header);
    } else if (const json::object* nested = argument->if_object()) {
      error = check_param_headers(*rules, *nested, header);
    }
    if (error) return error;
  }
  return std::nullopt;
}

}  // namespace belljar::mcp
