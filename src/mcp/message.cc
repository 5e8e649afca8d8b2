#include "mcp/message.h"

#include <boost/json/serializer.hpp>
#include <cmath>

#include "base/utf8.h"
#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

Message invalid(int code, std::string why, std::optional<Id> id = std::nullopt) {
  Message message;
  message.id = std::move(id);
  message.error = RpcError{code, std::move(why)};
  return message;
}

// Reads `params`; false if it has a type that the protocol does not allow.
bool take_params(json::object& object, json::object& params) {
  const auto at = object.find("params");
  if (at == object.end() || at->value().is_null()) return true;
  if (!at->value().is_object()) return false;
  params = std::move(at->value().as_object());
  return true;
}

// What a response says; whatever is wrong with it makes it an error of the peer.
Reply read_reply(json::object& object) {
  const auto result = object.find("result");
  if (result != object.end() && result->value().is_object()) {
    return std::move(result->value().as_object());
  }
  RpcError error{kInternalError, "the answer is not well-formed"};
  if (const json::object* sent = find_object(object, "error")) {
    const json::value* code = find(*sent, "code");
    if (code != nullptr && code->is_int64()) error.code = static_cast<int>(code->get_int64());
    const json::string* text = find_string(*sent, "message");
    if (text != nullptr) error.message = std::string_view{*text};
  }
  return error;
}

json::object frame() {
  return json::object{{"jsonrpc", "2.0"}};
}

// About how long the value is as text: a guess that is too small costs time, nothing else.
size_t guess_length(const json::value& value) {
  constexpr size_t kOverhead = 8;
  size_t length = kOverhead;
  if (const json::string* text = value.if_string()) length += text->size() + text->size() / 32;
  if (const json::array* items = value.if_array()) {
    for (const json::value& item : *items) length += guess_length(item);
  }
  if (const json::object* members = value.if_object()) {
    for (const auto& [key, member] : *members) length += key.size() + guess_length(member);
  }
  return length;
}

// json::serialize() begins with a small buffer and doubles it, which copies megabytes of an image
// again and again.
std::string to_text(const json::value& message) {
  json::serializer serializer;
  serializer.reset(&message);
  std::string text(guess_length(message) + 64, '\0');
  size_t done = 0;
  while (!serializer.done()) {
    if (done == text.size()) text.resize(text.size() * 2);
    done += serializer.read(text.data() + done, text.size() - done).size();
  }
  text.resize(done);
  return text;
}

Outgoing make_line(Outgoing::Kind kind, json::object message, int code = 0) {
  std::string text = to_text(json::value(std::move(message)));
  // Boost.JSON writes the bytes of strings unchecked. One bad byte from a tool would cost the
  // client the connection, so what the tool should have cleaned is cleaned here.
  if (!is_utf8(text)) text = to_utf8(text);
  return Outgoing{.kind = kind, .text = std::move(text), .code = code};
}

}  // namespace

std::optional<Id> read_id(const json::value& value) {
  if (value.is_string() || value.is_int64() || value.is_uint64()) return value;
  if (value.is_double()) {
    constexpr double kLargest = 9007199254740992.0;  // 2^53
    const double number = value.get_double();
    if (std::trunc(number) == number && std::abs(number) <= kLargest) {
      return Id(static_cast<int64_t>(number));
    }
  }
  return std::nullopt;
}

std::string key_of(const Id& id) {
  return json::serialize(id);
}

Message parse_message(std::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) return invalid(kInvalidRequest, "Message too large");
  json::parse_options options;
  options.max_depth = kMaxNesting;
  boost::system::error_code error;
  json::value value = json::parse(text, error, {}, options);
  if (error) return invalid(kParseError, "Parse error: " + error.message());
  if (value.is_array()) {
    Message message;
    message.kind = Message::Kind::batch;
    message.batch = std::move(value.as_array());
    return message;
  }
  return classify(std::move(value));
}

Message classify(json::value value) {
  if (!value.is_object()) return invalid(kInvalidRequest, "A message must be an object");
  json::object& object = value.as_object();
  const json::value* raw_id = find(object, "id");
  std::optional<Id> id = raw_id != nullptr ? read_id(*raw_id) : std::nullopt;
  const json::string* version = find_string(object, "jsonrpc");
  if (version == nullptr || *version != "2.0") {
    return invalid(kInvalidRequest, "jsonrpc must be \"2.0\"", std::move(id));
  }
  if (raw_id != nullptr && !id) {
    return invalid(kInvalidRequest, "id must be a string or an integer");
  }
  Message message;
  const json::value* method = find(object, "method");
  if (method == nullptr) {
    const bool answers = object.contains("result") || object.contains("error");
    if (!id || !answers) return invalid(kInvalidRequest, "method is missing", std::move(id));
    message.kind = Message::Kind::response;
    message.id = std::move(id);
    message.reply = read_reply(object);
    return message;
  }
  if (!method->is_string()) {
    return invalid(kInvalidRequest, "method must be a string", std::move(id));
  }
  message.method = std::string_view{method->get_string()};
  if (!take_params(object, message.params)) {
    return invalid(kInvalidRequest, "params must be an object", std::move(id));
  }
  message.kind = id ? Message::Kind::request : Message::Kind::notification;
  message.id = std::move(id);
  return message;
}

Outgoing make_error(const std::optional<Id>& id, const RpcError& error, Outgoing::Kind kind) {
  json::object body{{"code", error.code}, {"message", error.message}};
  if (error.data) body.emplace("data", *error.data);
  json::object message = frame();
  if (id) message.emplace("id", *id);
  message.emplace("error", std::move(body));
  return make_line(kind, std::move(message), error.code);
}

Outgoing make_result(const Id& id, json::object result) {
  json::object message = frame();
  message.emplace("id", id);
  message.emplace("result", std::move(result));
  return make_line(Outgoing::Kind::result, std::move(message));
}

Outgoing make_request(const Id& id, std::string_view method, json::object params) {
  json::object message = frame();
  message.emplace("id", id);
  message.emplace("method", method);
  message.emplace("params", std::move(params));
  return make_line(Outgoing::Kind::request, std::move(message));
}

Outgoing make_result(const Id& id, std::string_view result) {
  Outgoing outgoing{.kind = Outgoing::Kind::result};
  outgoing.text.reserve(result.size() + 64);
  outgoing.text.append(R"({"jsonrpc":"2.0","id":)").append(key_of(id));
  outgoing.text.append(R"(,"result":)").append(result).append("}");
  return outgoing;
}

Outgoing make_notification(std::string_view method) {
  json::object message = frame();
  message.emplace("method", method);
  return make_line(Outgoing::Kind::notification, std::move(message));
}

Outgoing make_notification(std::string_view method, json::object params) {
  json::object message = frame();
  message.emplace("method", method);
  message.emplace("params", std::move(params));
  return make_line(Outgoing::Kind::notification, std::move(message));
}

Outgoing make_answer(const Id& id, Reply reply) {
  if (const auto* error = std::get_if<RpcError>(&reply)) {
    return make_error(id, *error, Outgoing::Kind::error);
  }
  return make_result(id, std::move(std::get<json::object>(reply)));
}

}  // namespace belljar::mcp
