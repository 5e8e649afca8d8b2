#pragma once

#include <optional>

#include "mcp/tool.h"
#include "tools/program.h"
#include "tools/run_packages.h"
#include "tools/run_result.h"
#include "tools/tools.h"

namespace belljar::tools {

// One run of a program, as run_js and run_js_ephemeral have it in common.
struct ProgramRun {
  Program program;
  RunPackages packages;
  // Leave it running, once this port accepts connections; 0: belljar chooses it.
  std::optional<uint16_t> listen_on;
  bool in_session = false;  // the sandbox lives on
};

// Installs the packages, runs the program, looks at its files and, if it failed, for the
// reason. That it failed is an answer; an Error means that it could not be run. `report` has what
// the caller knows already.
Task<mcp::ToolResult> run_and_report(const Context& context, Lease lease, ProgramRun run,
                                     RunReport report, mcp::Call& call);

}  // namespace belljar::tools
