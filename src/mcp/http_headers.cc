#include "mcp/http_headers.h"

#include <fmt/format.h>

#include "mcp/header_values.h"
#include "mcp/modern.h"
#include "mcp/protocol.h"
#include "mcp/tool.h"

namespace belljar::mcp {

namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string to_lower(std::string_view text) {
  std::string result{text};
  for (char& c : result) c = lower(c);
  return result;
}

// "Text/HTML; level=1" → "text/html".
std::string media_type(std::string_view value) {
  return to_lower(trim(value.substr(0, value.find(';'))));
}

template <class Matches>
bool any_accepted(const net::HttpServerRequest& request, Matches matches) {
  for (const auto& [name, value] : request.headers) {
    if (name != "accept") continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      if (matches(media_type(rest.substr(0, comma)))) return true;
      rest.remove_prefix(std::min(rest.size(), comma + 1));
    }
  }
  return false;
}

RpcError mismatch(std::string message) {
  return RpcError{kHeaderMismatch, std::move(message)};
}

std::optional<RpcError> check_params(const Message& message, const Server& server,
                                     const HeaderLookup& header) {
  if (message.method != "tools/call") return std::nullopt;
  const json::string* name = find_string(message.params, "name");
  const Tool* tool = name != nullptr ? server.find_tool(*name) : nullptr;
  const json::object* arguments = find_object(message.params, "arguments");
  if (tool == nullptr || arguments == nullptr) return std::nullopt;
  return check_param_headers(tool->info().input_schema, *arguments, header);
}

}  // namespace

std::optional<std::string_view> find_header(const net::HttpServerRequest& request,
                                            std::string_view name) {
  const size_t count = request.count(name);
  if (count == 0) return std::nullopt;
  return count == 1 ? trim(request.header(name)) : "";
}

bool is_json(const net::HttpServerRequest& request) {
  const auto type = find_header(request, "content-type");
  return type && media_type(*type) == "application/json";
}

bool accepts(const net::HttpServerRequest& request, std::string_view type) {
  if (request.count("accept") == 0) return true;
  const std::string group = std::string{type.substr(0, type.find('/'))} + "/*";
  return any_accepted(request, [type, &group](const std::string& accepted) {
    return accepted == type || accepted == group || accepted == "*/*";
  });
}

bool names_type(const net::HttpServerRequest& request, std::string_view type) {
  return any_accepted(request, [type](const std::string& accepted) { return accepted == type; });
}

bool has_modern_header(const net::HttpServerRequest& request) {
  const auto version = find_header(request, "mcp-protocol-version");
  return version && is_modern(*version);
}

std::optional<RpcError> check_modern(const net::HttpServerRequest& request, const Message& message,
                                     const Server& server) {
  if (auto error = check_envelope(message.params)) return error;
  const std::string_view body{*find_string(*find_meta(message.params), kMetaVersion)};
  const auto version = find_header(request, "mcp-protocol-version");
  if (version && *version != body) {
    return mismatch(fmt::format(
        "The header MCP-Protocol-Version is not what the body says: send \"{}\"", body));
  }
  if (auto error = check_version(message.params)) return error;
  if (!version) return mismatch("The header MCP-Protocol-Version is missing");
  const auto method = find_header(request, "mcp-method");
  if (!method) return mismatch("The header Mcp-Method is missing");
  if (*method != message.method)
    return mismatch("The header Mcp-Method is not the method of the body");
  const HeaderLookup lookup = [&request](std::string_view name) {
    return find_header(request, to_lower(name));
  };
  if (auto error = check_name_header(message.method, message.params, lookup)) return error;
  return check_params(message, server, lookup);
}

net::HttpAnswer refusal(int status, const std::optional<Id>& id, const RpcError& error) {
  net::HttpAnswer answer;
  answer.status = status;
  answer.body = make_error(id, error, Outgoing::Kind::refusal).text;
  return answer;
}

}  // namespace belljar::mcp
