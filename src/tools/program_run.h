#pragma once

#include <optional>
#include <vector>

#include "mcp/tool.h"
#include "packages/dependency.h"
#include "tools/install.h"
#include "tools/program.h"
#include "tools/run_result.h"
#include "tools/tools.h"

namespace belljar::tools {

// One run of a program, as run_js and run_js_ephemeral have it in common.
struct ProgramRun {
  Program program;
  std::vector<packages::Dependency> dependencies;
  // Leave it running, once this port accepts connections; 0: belljar chooses it.
  std::optional<uint16_t> listen_on;
  bool in_session = false;  // the sandbox lives on
};

// `dependencies`, and what a client sent for it. Error{invalid} for what is not a package of the
// registry.
Parameter dependencies_parameter();
std::vector<packages::Dependency> read_dependencies(const Arguments& arguments);

// install_dependencies() with the operator's settings, those of the request aside: its owner, its
// packages and whom it tells how far it is.
Task<InstallReport> install_for_run(const Context& context, InstallRequest request, Lease& lease);

// Installs the dependencies, runs the program, looks at its files and, if it failed, for the
// reason. That it failed is an answer; an Error means that it could not be run. `report` has what
// the caller knows already.
Task<mcp::ToolResult> run_and_report(const Context& context, Lease lease, ProgramRun run,
                                     RunReport report, mcp::Call& call);

}  // namespace belljar::tools
