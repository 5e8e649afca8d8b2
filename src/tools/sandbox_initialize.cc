#include "tools/basic_tool.h"
#include "tools/network_access.h"
#include "tools/program.h"
#include "tools/run_result.h"
#include "tools/sandbox_options.h"
#include "tools/schema.h"
#include "tools/server_program.h"

namespace belljar::tools {

namespace {

json::object output_schema() {
  json::object properties;
  properties["container_id"] = of_type("string");
  properties["image"] = of_type("string");
  properties["nodeVersion"] = of_type("string");
  properties["lifetimeSeconds"] = of_type("integer");
  properties["idleSeconds"] = of_type("integer");
  properties["isolation"] = isolation_schema();
  return all_required(std::move(properties));
}

mcp::ToolInfo describe(const Context& context) {
  const SessionLimits& limits = context.sandboxes.limits();
  mcp::ToolInfo info;
  info.name = "sandbox_initialize";
  info.title = "Make a sandbox";
  info.description = fmt::format(
      "Makes a sandbox that lives on between calls and returns its id, which run_js, sandbox_exec "
      "and "
      "sandbox_stop take as container_id. Use it when several programs work on the same files; for "
      "a "
      "single program run_js_ephemeral is simpler. It ends with sandbox_stop, after {} s without "
      "use, "
      "or {} s after it was made, and everything in it is lost then. {}",
      limits.idle.count(), limits.lifetime.count(), surroundings(context.settings));
  info.output_schema = output_schema();
  info.destructive = false;
  info.open_world = false;
  return info;
}

std::vector<Parameter> parameters(const Settings& settings) {
  return {image_parameter(settings),
          port_parameter("port",
                         "A port of the sandbox to publish on the host: what listens there is "
                         "reachable at the same port of 127.0.0.1, from now on until the sandbox "
                         "ends."),
          network_parameter(settings), limits_parameter(settings)};
}

class SandboxInitialize final : public BasicTool {
 public:
  explicit SandboxInitialize(const Context& context)
      : BasicTool{context, describe(context), parameters(context.settings)} {}

  Task<mcp::ToolResult> call(json::object sent, mcp::Call& call) override {
    const Arguments arguments = read(sent);
    SandboxSpec spec;
    spec.limits = read_limits(arguments, context_.settings);
    const network::Policy network = read_network(arguments, context_.settings);
    spec.network = network_of(network);
    if (context_.files != nullptr) spec.files = context_.files->handle;
    std::function<void(std::string_view)> tell = [&call](std::string_view text) {
      call.progress(text);
    };
    spec.image = co_await context_.images.resolve(read_image_name(arguments), std::move(tell));
    const SandboxInfo made = co_await context_.sandboxes.create(call.owner(), std::move(spec));
    {
      Lease lease = context_.sandboxes.use(made.id, call.owner());
      open_network(context_, lease, network);
    }
    if (arguments.has("port")) co_await publish(made.id, call.owner(), arguments.integer("port"));

    json::object structured;
    structured["container_id"] = made.id;
    structured["image"] = made.image.name;
    structured["nodeVersion"] = made.image.node_version;
    structured["lifetimeSeconds"] = context_.sandboxes.limits().lifetime.count();
    structured["idleSeconds"] = context_.sandboxes.limits().idle.count();
    structured["isolation"] = isolation_fields(context_.sandboxes.isolation());
    mcp::ToolResult result;
    result.content.emplace_back(mcp::text_block(made.id));
    result.structured = std::move(structured);
    co_return result;
  }

 private:
  Task<> publish(std::string id, std::string owner, int64_t port) {
    const auto executor = co_await asio::this_coro::executor;
    std::exception_ptr failure;
    try {
      publish_port(context_.sandboxes.use(id, owner), static_cast<uint16_t>(port), executor);
    } catch (const Error&) {
      failure = std::current_exception();
    }
    if (!failure) co_return;
    co_await context_.sandboxes.stop(std::move(id), std::move(owner));
    std::rethrow_exception(failure);
  }
};

}  // namespace

std::unique_ptr<mcp::Tool> make_sandbox_initialize(const Context& context) {
  return std::make_unique<SandboxInitialize>(context);
}

}  // namespace belljar::tools
