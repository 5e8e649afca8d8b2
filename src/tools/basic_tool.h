#pragma once

#include <utility>
#include <vector>

#include "tools/arguments.h"
#include "tools/tools.h"

namespace belljar::tools {

// For a tool that changes nothing and may be called again.
inline void mark_as_look(mcp::ToolInfo& info) {
  info.read_only = true;
  info.destructive = false;
  info.idempotent = true;
}

// What all tools have: a context, a description, and parameters that are schema and check at once.
class BasicTool : public mcp::Tool {
 public:
  const mcp::ToolInfo& info() const final { return info_; }

 protected:
  BasicTool(const Context& context, mcp::ToolInfo info, std::vector<Parameter> parameters)
      : context_{context}, parameters_{std::move(parameters)}, info_{std::move(info)} {
    info_.input_schema = schema_of(parameters_);
  }

  Arguments read(const json::object& sent) const { return Arguments::read(parameters_, sent); }

  const Context context_;

 private:
  std::vector<Parameter> parameters_;
  mcp::ToolInfo info_;
};

}  // namespace belljar::tools
