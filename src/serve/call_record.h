#pragma once

#include <string>

#include "base/json.h"
#include "mcp/tool.h"

namespace belljar::serve {

// How a call ended, in one word of a fixed set: ok, failed (the program's own fault), timed_out,
// out_of_memory, killed, started (it runs on in the background), error.
std::string outcome_of(const mcp::ToolResult& result);

// The same of a call that threw: cancelled, invalid, not_found, denied, exhausted, unavailable,
// internal.
std::string outcome_of(const std::exception_ptr& error);

// Bytes of a program and what it printed.
size_t code_bytes(const json::object& arguments);
size_t output_bytes(const mcp::ToolResult& result);

// What the audit log keeps of a call's arguments: hashes of programs and commands, never their
// text; the sandbox, packages and network policy. `network` is what counts when the call says
// nothing.
json::object audit_arguments(const json::object& arguments, const std::string& network);

// And of its result: exit status, changed files, what was reached.
json::object audit_result(const mcp::ToolResult& result);

}  // namespace belljar::serve
