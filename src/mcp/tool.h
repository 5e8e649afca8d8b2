#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/task.h"
#include "mcp/input.h"

namespace belljar::mcp {

enum class LogLevel { debug, info, notice, warning, error, critical, alert, emergency };

// One call of a client while it is being served: who asks, and the way to tell them how it goes.
// Cancelling the call cancels the task that serves it.
class Call {
 public:
  virtual ~Call() = default;

  // Whose sandboxes and files this caller may use. "" for the one user of a stdio connection.
  virtual const std::string& owner() const = 0;

  // True if the client asked to be told; progress() is a no-op otherwise.
  virtual bool wants_progress() const = 0;

  // Reports a step, with a number that grows by one each time. `total` 0 means unknown.
  virtual void progress(std::string_view message, double total = 0) = 0;

  // Sends a log message if the client asked for this level.
  virtual void log(LogLevel level, std::string_view logger, json::value data) = 0;

  // What the client can be asked: {"elicitation"?, "sampling"?, "roots"?, …}.
  virtual const json::object& client_capabilities() const = 0;

  // What the client answered to the last ask() of this call, by the names of its requests, and the
  // state that went with it. Empty in the first round. The client may have left out answers, or
  // given others than it was asked for: ask again, or do without.
  virtual const json::object& input_responses() const = 0;
  virtual const std::string& request_state() const = 0;

  // Asks the client. The handler returns right afterwards, its result is dropped, and it is called
  // once more, from the beginning, when the client has answered; which it may never do. A client
  // that cannot be asked this gets an error instead. Tools whose ToolInfo does not say that they
  // ask are not heard.
  virtual void ask(InputRequired input) = 0;

  // For a call that will take long: lets a client of the legacy era that waits over HTTP hang up
  // meanwhile and come back for the answer. Does nothing for others.
  virtual void let_client_go() {}
};

// Whether a call may go on after its request has been answered, for clients that know the tasks
// extension. Others wait for the result, but for those of the modern era that call a tool which
// requires it: they get an error.
enum class TaskSupport { none, optional, required };

struct ToolInfo {
  std::string name;
  std::string title;
  std::string description;
  json::object input_schema;
  json::object output_schema;  // empty: none
  bool read_only = false;
  bool destructive = true;
  bool idempotent = false;
  bool open_world = true;
  bool asks = false;  // may call Call::ask()
  TaskSupport tasks = TaskSupport::none;
};

struct ToolResult {
  json::array content;                     // content blocks; see text_block()
  std::optional<json::object> structured;  // conforms to output_schema unless is_error
  bool is_error = false;
  json::object meta;  // members of the result's _meta
};

inline json::object text_block(std::string_view text) {
  return json::object{{"type", "text"}, {"text", text}};
}

// A function that a model may call. Everything that goes wrong with a call, bad arguments included,
// is a result with is_error or an exception of class Error (turned into one), never a protocol
// error.
class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolInfo& info() const = 0;
  virtual Task<ToolResult> call(json::object arguments, Call& call) = 0;
};

}  // namespace belljar::mcp
