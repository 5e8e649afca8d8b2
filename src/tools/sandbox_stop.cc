#include "tools/basic_tool.h"
#include "tools/program.h"
#include "tools/schema.h"

namespace belljar::tools {

namespace {

mcp::ToolInfo describe() {
  mcp::ToolInfo info;
  info.name = "sandbox_stop";
  info.title = "Stop a sandbox";
  info.description =
      "Ends a sandbox that sandbox_initialize made, with everything that runs in it and all its "
      "files. The id is of no use afterwards.";
  json::object properties;
  properties["container_id"] = json::object{{"type", "string"}};
  properties["removed"] = json::object{{"type", "boolean"}};
  info.output_schema = all_required(std::move(properties));
  info.destructive = true;
  info.idempotent = true;
  info.open_world = false;
  return info;
}

class SandboxStop final : public BasicTool {
 public:
  explicit SandboxStop(const Context& context)
      : BasicTool{context, describe(), {container_parameter()}} {}

  Task<mcp::ToolResult> call(json::object sent, mcp::Call& call) override {
    const Arguments arguments = read(sent);
    const std::string id = arguments.string("container_id");
    co_await context_.sandboxes.stop(id, call.owner());

    json::object structured;
    structured["container_id"] = id;
    structured["removed"] = true;
    mcp::ToolResult result;
    result.content.emplace_back(mcp::text_block(fmt::format("Container {} removed.", id)));
    result.structured = std::move(structured);
    co_return result;
  }
};

}  // namespace

std::unique_ptr<mcp::Tool> make_sandbox_stop(const Context& context) {
  return std::make_unique<SandboxStop>(context);
}

}  // namespace belljar::tools
