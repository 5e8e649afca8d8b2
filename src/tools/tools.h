#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "mcp/tool.h"
#include "network/outside.h"
#include "network/previews.h"
#include "packages/package_sets.h"
#include "sandbox/sandboxes.h"
#include "tools/files_directory.h"
#include "tools/images.h"
#include "tools/settings.h"

namespace belljar::tools {

// What the tools work with. The references must outlive the tools.
struct Context {
  Sandboxes& sandboxes;
  Images& images;
  packages::Registry& registry;
  packages::PackageSets& packages;
  network::Outside& outside;
  const Clock& clock;
  FilesDirectory* files;  // nullptr: each sandbox has its own
  Settings settings;
  network::Previews* previews = nullptr;  // of servers in sandboxes; nullptr: there are none
};

// All tools, in the order in which a client sees them. They have no state of their own.
std::vector<std::unique_ptr<mcp::Tool>> make_tools(const Context& context);

// One per file of the same name.
std::unique_ptr<mcp::Tool> make_run_js_ephemeral(const Context& context);
std::unique_ptr<mcp::Tool> make_sandbox_initialize(const Context& context);
std::unique_ptr<mcp::Tool> make_run_js(const Context& context);
std::unique_ptr<mcp::Tool> make_sandbox_exec(const Context& context);
std::unique_ptr<mcp::Tool> make_sandbox_stop(const Context& context);
std::unique_ptr<mcp::Tool> make_sandbox_list(const Context& context);
std::unique_ptr<mcp::Tool> make_sandbox_logs(const Context& context);
std::unique_ptr<mcp::Tool> make_sandbox_write_files(const Context& context);
std::unique_ptr<mcp::Tool> make_sandbox_read_file(const Context& context);
std::unique_ptr<mcp::Tool> make_sandbox_list_files(const Context& context);
std::unique_ptr<mcp::Tool> make_get_dependency_types(const Context& context);
std::unique_ptr<mcp::Tool> make_search_npm_packages(const Context& context);

}  // namespace belljar::tools
