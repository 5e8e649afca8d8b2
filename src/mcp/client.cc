#include "mcp/client.h"

#include "base/error.h"
#include "mcp/message.h"
#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

json::object envelope() {
  json::object meta;
  meta.emplace(kMetaVersion, kModern);
  meta.emplace(kMetaCapabilities, json::object{});
  return meta;
}

[[noreturn]] void fail_not_mcp() {
  fail(Code::unavailable, "the server answers with something that is not MCP");
}

json::object take_result(json::object& message) {
  if (const json::object* error = find_object(message, "error")) {
    const json::string* words = find_string(*error, "message");
    fail(Code::unavailable, "{}", words != nullptr ? std::string_view{*words} : "unknown error");
  }
  json::value& result = message["result"];
  if (!result.is_object()) fail_not_mcp();
  return std::move(result.as_object());
}

}  // namespace

Client::Client(const asio::any_io_executor& executor, Fd socket)
    : socket_{std::move(socket)},
      input_{executor, socket_.get(), StdioStream::Direction::input},
      output_{executor, socket_.get(), StdioStream::Direction::output},
      lines_{kMaxMessageBytes} {}

Task<json::object> Client::request(std::string method, json::object params) {
  const int64_t id = next_id_++;
  params["_meta"] = envelope();
  json::object message{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  message.emplace("params", std::move(params));
  try {
    co_await output_.write(json::serialize(message) + "\n");
    co_return co_await receive(id);
  } catch (const boost::system::system_error& e) {
    if (e.code() == asio::error::operation_aborted) throw;
    fail(Code::unavailable, "the server has hung up: {}", e.code().message());
  }
}

Task<json::object> Client::call_tool(std::string name, json::object arguments) {
  json::object params;
  params.emplace("name", name);
  params.emplace("arguments", std::move(arguments));
  co_return co_await request("tools/call", std::move(params));
}

Task<json::object> Client::receive(int64_t id) {
  while (true) {
    const std::string line = co_await receive_line();
    boost::system::error_code error;
    json::value message = json::parse(line, error);
    if (error || !message.is_object()) fail_not_mcp();
    const json::value* got = find(message.as_object(), "id");
    if (got != nullptr && *got == json::value(id)) co_return take_result(message.as_object());
  }
}

Task<std::string> Client::receive_line() {
  while (true) {
    if (const auto line = lines_.next()) {
      if (line->too_long) fail_not_mcp();
      co_return std::string{line->text};
    }
    const std::string_view chunk = co_await input_.read();
    if (chunk.empty()) fail(Code::unavailable, "the server has hung up");
    lines_.feed(chunk);
  }
}

}  // namespace belljar::mcp
