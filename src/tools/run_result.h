#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "mcp/tool.h"
#include "sandbox/limits.h"
#include "sandbox/run.h"

namespace belljar::tools {

// A program that runs on in the background.
struct BackgroundInfo {
  std::string sandbox;
  int process = 0;
  uint16_t port = 0;
};

// A run and what is needed to tell a client about it.
struct RunReport {
  RunResult result;
  std::string failure;  // why it failed, if the result itself does not tell
  std::optional<BackgroundInfo> background;
  Limits limits;  // of the sandbox
  milliseconds timeout{0};
  std::chrono::microseconds image_time{0};   // to find, or to install, the Node.js
  std::chrono::microseconds create_time{0};  // to make the sandbox
};

// Why a program failed, in words; "" if it did not. `subject` is "the program" or the like.
std::string failure_reason(const RunReport& report, std::string_view subject);

// "Error during execution: <reason>" and what was printed on both streams.
std::string failure_text(std::string_view reason, std::string_view out, std::string_view err);

// null where there is none.
json::value exit_code_of(const Outcome& outcome);
json::value signal_of(const Outcome& outcome);

// `stdout`, `stderr`, `exitCode`, `signal`, `timedOut`, `oomKilled`, `truncated`, `durationMs`, and
// their schema.
json::object outcome_fields(const RunResult& result);
json::object outcome_properties();

// The whole answer of run_js and run_js_ephemeral, and the schema of its structuredContent.
mcp::ToolResult run_tool_result(const RunReport& report);
json::object run_output_schema();

}  // namespace belljar::tools
