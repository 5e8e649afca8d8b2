// The values of headers that are repeated, compared or resumed with: each line of the input is
// "name: value".
#include "base/utf8.h"
#include "fuzz.h"
#include "mcp/event_stream.h"
#include "mcp/header_values.h"
#include "mcp/http_guard.h"
#include "mcp/http_headers.h"
#include "mcp/testing.h"

namespace belljar::mcp {
namespace {

using fuzz::expect;

net::HttpServerRequest read_request(std::string_view input) {
  net::HttpServerRequest request;
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    const size_t colon = std::min(line.find(": "), line.size());
    request.headers.emplace_back(line.substr(0, colon),
                                 line.substr(std::min(line.size(), colon + 2)));
  }
  return request;
}

void check_value(std::string_view value) {
  if (const auto decoded = decode_header_value(value))
    expect(is_utf8(*decoded), "a decoded value is UTF-8");
  const auto id = parse_event_id(value);
  if (id) expect(to_text(*id) == value, "an event has one id");
}

void check_guard(const net::HttpServerRequest& request) {
  if (refuse_foreign(request, {})) return;
  std::string host{request.header("host")};
  for (char& c : host) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  host = host.substr(0, host.starts_with('[') ? host.find(']') + 1 : host.find(':'));
  expect(host == "localhost" || host == "127.0.0.1" || host == "[::1]",
         "only names of this machine are let in");
  expect(request.count("origin") == 0 || request.header("origin").size() >= 12,
         "an origin has a scheme and a host");
}

void check(std::string_view input) {
  const net::HttpServerRequest request = read_request(input);
  for (const auto& [name, value] : request.headers) check_value(value);
  check_guard(request);
  is_json(request);
  if (names_type(request, "text/event-stream"))
    expect(accepts(request, "text/event-stream"), "what is named is accepted");
  static const Server server{demo()};
  Message message = parse_message(modern("1", "tools/call", R"("name":"echo")"));
  const auto error = check_modern(request, message, server);
  if (!error) {
    expect(find_header(request, "mcp-method") == "tools/call", "the method is repeated");
    expect(decode_header_value(request.header("mcp-name")) == "echo", "the name is repeated");
  }
  const json::object schema =
      json::parse(R"({"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},
          "b":{"type":"integer","x-mcp-header":"B"},"c":{"type":"boolean","x-mcp-header":"C"}}})")
          .as_object();
  const json::object arguments{{"a", "\xc3\xa4"}, {"b", 7}, {"c", true}};
  check_param_headers(schema, arguments,
                      [&request](std::string_view name) { return find_header(request, name); });
}

}  // namespace
}  // namespace belljar::mcp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::mcp::check(belljar::fuzz::text_of(data, size));
  return 0;
}
