#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"

// JSON-RPC 2.0 as MCP uses it: from text to a classified message, and back to text on one line.
namespace belljar::mcp {

inline constexpr size_t kMaxMessageBytes = 32u << 20;
inline constexpr size_t kMaxNesting = 64;

// A string or an integer, echoed with the type and value it came with. 0 and "" are legal.
using Id = json::value;

// The id, if `value` may be one. 7.0 is the integer 7, as in JSON Schema; beyond 2^53 a number that
// is not written as an integer is refused, because it could not be echoed.
std::optional<Id> read_id(const json::value& value);

// Distinguishes 1 from "1"; for use as the key of a table.
std::string key_of(const Id& id);

struct RpcError {
  int code = 0;
  std::string message;
  std::optional<json::value> data = std::nullopt;
};

// What a method answers: its result, or why there is none.
using Reply = std::variant<json::object, RpcError>;

struct Message {
  enum class Kind { request, notification, response, batch, invalid };

  Kind kind = Kind::invalid;
  std::optional<Id>
      id;               // of a request or response; of an invalid message if a usable one was found
  std::string method;   // of a request or notification
  json::object params;  // of a request or notification; absent and null are {}
  json::array batch;    // the elements of a batch, not yet classified
  RpcError error;       // of an invalid message: what to answer
  Reply reply;          // of a response
};

// Never throws because of what is in `text`: whatever is too big, too deeply nested, not JSON, not
// UTF-8 or not JSON-RPC becomes an invalid message.
Message parse_message(std::string_view text, size_t max_bytes = kMaxMessageBytes);

// The same for a value that is already parsed: an element of a batch. An array is invalid here.
Message classify(json::value value);

// A message on its way to the client.
struct Outgoing {
  enum class Kind {
    notification,
    request,  // ours, to a client of the legacy era
    result,
    error,    // the answer of a method that could not do what was asked
    refusal,  // an error from before any method ran: no message, wrong envelope, unknown method
    // Hints without a text, for transports that have a stream for each request:
    no_answer,  // the request was cancelled
    pause,      // the client may hang up meanwhile and come back for the answer
  };
  bool is_hint() const { return kind == Kind::no_answer || kind == Kind::pause; }

  Kind kind = Kind::notification;
  std::string text = {};  // one line of JSON without the newline, well-formed UTF-8
  int code = 0;           // of an error or refusal
};

// Without an id (it could not be read) the answer has none, rather than null.
Outgoing make_error(const std::optional<Id>& id, const RpcError& error, Outgoing::Kind kind);
Outgoing make_result(const Id& id, json::object result);
Outgoing make_result(const Id& id, std::string_view result);  // a JSON text on one line, UTF-8
Outgoing make_request(const Id& id, std::string_view method, json::object params);
Outgoing make_notification(std::string_view method);
Outgoing make_notification(std::string_view method, json::object params);

// The answer to a request, whichever it is; an RpcError becomes an Outgoing of kind error.
Outgoing make_answer(const Id& id, Reply reply);

}  // namespace belljar::mcp
