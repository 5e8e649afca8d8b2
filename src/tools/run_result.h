#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/json.h"
#include "mcp/tool.h"
#include "sandbox/limits.h"
#include "sandbox/run.h"

namespace belljar::tools {

// A run and what is needed to tell a client about it.
struct RunReport {
  RunResult result;
  Limits limits;  // of the sandbox
  milliseconds timeout{0};
  std::chrono::microseconds image_time{0};   // to find, or to install, the Node.js
  std::chrono::microseconds create_time{0};  // to make the sandbox
};

// Why a program failed, in words; "" if it did not. `subject` is "the program" or the like.
std::string failure_reason(const RunReport& report, std::string_view subject);

// "Error during execution: <reason>" and what was printed on both streams.
std::string failure_text(std::string_view reason, std::string_view out, std::string_view err);

// `stdout`, `stderr`, `exitCode`, `signal`, `timedOut`, `oomKilled`, `truncated`, `durationMs`, and
// their schema. The schema accepts more members, so that those of later versions do no harm.
json::object outcome_fields(const RunResult& result);
json::object outcome_properties();

// The whole answer of run_js and run_js_ephemeral, and the schema of its structuredContent.
mcp::ToolResult run_tool_result(const RunReport& report);
json::object run_output_schema();

// A schema in which all these properties are required.
json::object all_required(json::object properties);

}  // namespace belljar::tools
