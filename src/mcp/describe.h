#pragma once

#include "base/json.h"
#include "mcp/prompt.h"
#include "mcp/resource.h"
#include "mcp/tool.h"

// Entries of the four lists as they go over the wire. Empty texts are left out.
namespace belljar::mcp {

json::object describe(const ToolInfo& info);
json::object describe(const PromptInfo& info);
json::object describe(const ResourceInfo& info);
json::object describe(const ResourceTemplateInfo& info);

}  // namespace belljar::mcp
