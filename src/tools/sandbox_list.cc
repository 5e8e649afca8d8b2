#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include "base/bytes.h"
#include "tools/basic_tool.h"
#include "tools/schema.h"

namespace belljar::tools {

namespace {

json::object output_schema() {
  json::object properties;
  properties["container_id"] = of_type("string");
  properties["image"] = of_type("string");
  properties["nodeVersion"] = of_type("string");
  properties["created"] = of_type("string");
  properties["ageSeconds"] = of_type("integer");
  properties["idleSeconds"] = of_type("integer");
  properties["lifetimeLeftSeconds"] = of_type("integer");
  properties["running"] = of_type("integer");
  properties["ports"] = array_of(of_type("integer"));
  json::object result;
  result["sandboxes"] = array_of(all_required(std::move(properties)));
  return all_required(std::move(result));
}

mcp::ToolInfo describe() {
  mcp::ToolInfo info;
  info.name = "sandbox_list";
  info.title = "List sandboxes";
  info.description =
      "Lists your live sandboxes: their ids, their images, since when they are idle, how long they "
      "will live, how many programs run in each, and which of their ports are published.";
  info.output_schema = output_schema();
  mark_as_look(info);
  info.open_world = false;
  return info;
}

std::string iso_time(Clock::WallTime time) {
  const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

json::object fields(const SandboxInfo& info) {
  json::object object;
  object["container_id"] = info.id;
  object["image"] = info.image.name;
  object["nodeVersion"] = info.image.node_version;
  object["created"] = iso_time(info.created);
  object["ageSeconds"] = info.age.count();
  object["idleSeconds"] = info.idle.count();
  object["lifetimeLeftSeconds"] = info.lifetime_left.count();
  object["running"] = info.running;
  object["ports"] = json::array(info.ports.begin(), info.ports.end());
  return object;
}

std::string line(const SandboxInfo& info) {
  const std::string use = info.running > 0 ? fmt::format("{} running", info.running)
                                           : fmt::format("idle for {} s", info.idle.count());
  const std::string ports = info.ports.empty()
                                ? ""
                                : fmt::format(", {} {}", info.ports.size() == 1 ? "port" : "ports",
                                              fmt::join(info.ports, ", "));
  return fmt::format("{}  {} (Node.js {}), made {}, {}, {} s left{}\n", info.id, info.image.name,
                     info.image.node_version, iso_time(info.created), use,
                     info.lifetime_left.count(), ports);
}

class SandboxList final : public BasicTool {
 public:
  explicit SandboxList(const Context& context) : BasicTool{context, describe(), {}} {}

  Task<mcp::ToolResult> call(json::object sent, mcp::Call& call) override {
    read(sent);
    json::array list;
    std::string text;
    for (const SandboxInfo& info : context_.sandboxes.list(call.owner())) {
      list.emplace_back(fields(info));
      text += line(info);
    }
    if (text.empty()) text = "No live sandboxes.";
    json::object structured;
    structured["sandboxes"] = std::move(list);
    mcp::ToolResult result;
    result.content.emplace_back(mcp::text_block(text));
    result.structured = std::move(structured);
    co_return result;
  }
};

}  // namespace

std::unique_ptr<mcp::Tool> make_sandbox_list(const Context& context) {
  return std::make_unique<SandboxList>(context);
}

}  // namespace belljar::tools
