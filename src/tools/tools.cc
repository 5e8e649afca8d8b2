#include "tools/tools.h"

namespace belljar::tools {

std::vector<std::unique_ptr<mcp::Tool>> make_tools(const Context& context) {
  std::vector<std::unique_ptr<mcp::Tool>> tools;
  tools.push_back(make_run_js_ephemeral(context));
  tools.push_back(make_sandbox_initialize(context));
  tools.push_back(make_run_js(context));
  tools.push_back(make_sandbox_exec(context));
  tools.push_back(make_sandbox_stop(context));
  tools.push_back(make_sandbox_list(context));
  tools.push_back(make_sandbox_logs(context));
  tools.push_back(make_sandbox_write_files(context));
  tools.push_back(make_sandbox_read_file(context));
  tools.push_back(make_sandbox_list_files(context));
  tools.push_back(make_get_dependency_types(context));
  tools.push_back(make_search_npm_packages(context));
  return tools;
}

}  // namespace belljar::tools
