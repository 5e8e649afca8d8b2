#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "mcp/tool.h"
#include "sandbox/capabilities.h"
#include "sandbox/limits.h"
#include "sandbox/run.h"
#include "sandbox/traffic.h"
#include "tools/file_report.h"
#include "tools/install.h"

namespace belljar::tools {

// A program that runs on in the background.
struct BackgroundInfo {
  std::string sandbox;
  int process = 0;
  uint16_t port = 0;
  std::string url;
  std::string preview = {};  // the same for browsers anywhere; "": there is none
};

// A run and what is needed to tell a client about it.
struct RunReport {
  RunResult result;
  std::string failure;  // why it failed, if the result itself does not tell, or not well enough
  std::vector<std::string> lint;  // what static checks say of a program that failed
  std::optional<InstallReport> install;
  std::optional<BackgroundInfo> background;
  FileReport files;
  std::vector<Traffic> network;  // what the program wanted of the outside
  Limits limits;                 // of the sandbox
  Isolation isolation;
  milliseconds timeout{0};
  std::chrono::microseconds image_time{0};   // to find, or to install, the Node.js
  std::chrono::microseconds create_time{0};  // to make the sandbox
  std::chrono::microseconds files_time{0};   // to find out which files the program has changed
};

bool has_failed(const RunReport& report);

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

// How strong the sandbox's walls are, for every result that comes from one: {grade, weaker}.
json::object isolation_fields(const Isolation& isolation);
json::object isolation_schema();

// The whole answer of run_js and run_js_ephemeral, and the schema of its structuredContent.
mcp::ToolResult run_tool_result(RunReport report);
json::object run_output_schema();

}  // namespace belljar::tools
