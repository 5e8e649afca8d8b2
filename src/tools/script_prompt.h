#pragma once

#include <memory>

#include "mcp/prompt.h"
#include "tools/settings.h"

namespace belljar::tools {

// The prompt run-node-js-script: what the user wants, followed by script_guide().
std::unique_ptr<mcp::Prompt> make_script_prompt(const Settings& settings);

}  // namespace belljar::tools
