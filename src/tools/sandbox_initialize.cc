#include "tools/basic_tool.h"
#include "tools/network_access.h"
#include "tools/program.h"
#include "tools/publishing.h"
#include "tools/run_result.h"
#include "tools/sandbox_options.h"
#include "tools/schema.h"

namespace belljar::tools {

namespace {

json::object output_schema() {
  json::object properties;
  properties["container_id"] = of_type("string");
  properties["image"] = of_type("string");
  properties["nodeVersion"] = of_type("string");
  properties["lifetimeSeconds"] = of_type("integer");
  properties["idleSeconds"] = of_type("integer");
  properties["ports"] = array_of(of_type("integer"));
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
                         fmt::format("A port of the sandbox to publish on the host, 1024 or more: "
                                     "what listens there is reachable at the same port of {}, "
                                     "from now on until the sandbox ends. 0: belljar chooses one, "
                                     "returns it in ports, and programs find it in "
                                     "process.env.PORT.",
                                     settings.publish_address.to_string())),
          network_parameter(settings), limits_parameter(settings)};
}

class SandboxInitialize final : public BasicTool {
 public:
  explicit SandboxInitialize(const Context& context)
      : BasicTool{context, describe(context), parameters(context.settings)} {}

  Task<mcp::ToolResult> call(json::object sent, mcp::Call& call) override {
    const Arguments arguments = read(sent);
    const std::optional<uint16_t> port = read_port(arguments, "port");
    SandboxSpec spec;
    spec.limits = read_limits(arguments, context_.settings);
    const network::Policy network = read_network(arguments, context_.settings);
    if (context_.files != nullptr) spec.files = context_.files->handle;
    std::function<void(std::string_view)> tell = [&call](std::string_view text) {
      call.progress(text);
    };
    spec.image = co_await context_.images.resolve(read_image_name(arguments), std::move(tell));
    spec.network = network_of(network);
    const SandboxInfo made = co_await context_.sandboxes.create(call.owner(), std::move(spec));
    const auto executor = co_await asio::this_coro::executor;
    json::object isolation;
    json::array ports;
    std::exception_ptr failure;
    try {
      Lease lease = context_.sandboxes.use(made.id, call.owner());
      co_await open_network(context_, lease, network);
      isolation = isolation_fields(lease.sandbox().isolation());
      if (port) ports.emplace_back(publish(lease, *port, executor));
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) {  // nobody would ever know its id
      co_await context_.sandboxes.stop(made.id, call.owner());
      std::rethrow_exception(failure);
    }

    json::object structured;
    structured["container_id"] = made.id;
    structured["image"] = made.image.name;
    structured["nodeVersion"] = made.image.node_version;
    structured["lifetimeSeconds"] = context_.sandboxes.limits().lifetime.count();
    structured["idleSeconds"] = context_.sandboxes.limits().idle.count();
    structured["ports"] = std::move(ports);
    structured["isolation"] = std::move(isolation);
    mcp::ToolResult result;
    result.content.emplace_back(mcp::text_block(made.id));
    result.structured = std::move(structured);
    co_return result;
  }

 private:
  uint16_t publish(const Lease& lease, uint16_t wanted, const asio::any_io_executor& executor) {
    const uint16_t port = publish_port(lease, wanted, context_.settings.publish_address, executor);
    if (wanted == 0) lease.environment()[kPortVariable] = std::to_string(port);
    return port;
  }
};

}  // namespace

std::unique_ptr<mcp::Tool> make_sandbox_initialize(const Context& context) {
  return std::make_unique<SandboxInitialize>(context);
}

}  // namespace belljar::tools
