#include "tools/basic_tool.h"
#include "tools/program.h"
#include "tools/progress.h"
#include "tools/run_result.h"
#include "tools/sandbox_options.h"
#include "tools/server_program.h"

namespace belljar::tools {

namespace {

constexpr size_t kShownLog = 1u << 20;  // of a server that did not start

mcp::ToolInfo describe(const Settings& settings) {
  mcp::ToolInfo info;
  info.name = "run_js";
  info.title = "Run JavaScript in a sandbox";
  info.description =
      "Runs a JavaScript or TypeScript program in a sandbox that sandbox_initialize made, and "
      "returns "
      "what it printed. Files that it leaves in /workspace are there for the next program; "
      "variables "
      "are not. Stop the sandbox with sandbox_stop when you no longer need it. " +
      surroundings(settings);
  info.output_schema = run_output_schema();
  info.destructive = true;
  info.open_world = false;
  return info;
}

std::vector<Parameter> parameters(const Settings& settings) {
  std::vector<Parameter> all{
      container_parameter(), code_parameter(settings), dependencies_parameter(),
      port_parameter("listenOnPort",
                     "For a server: the port the program listens on. It is left running, the port "
                     "is published at 127.0.0.1 on the host, and the call returns as soon as the "
                     "port accepts connections. timeoutMs limits how long that may take.")};
  for (Parameter& parameter : program_parameters(settings)) all.push_back(std::move(parameter));
  all.push_back(network_parameter());
  Parameter limits = limits_parameter(settings);
  limits.description =
      "The limits of the sandbox, as given to sandbox_initialize; they cannot change.";
  all.push_back(std::move(limits));
  return all;
}

class RunJs final : public BasicTool {
 public:
  explicit RunJs(const Context& context)
      : BasicTool{context, describe(context.settings), parameters(context.settings)} {}

  Task<mcp::ToolResult> call(json::object sent, mcp::Call& call) override {
    const Arguments arguments = read(sent);
    refuse_unsupported(arguments);
    Program program = read_program(arguments, context_.settings);
    read_network(arguments);

    Lease lease = context_.sandboxes.use(arguments.string("container_id"), call.owner());
    check_limits_unchanged(arguments, lease.spec().limits);
    RunReport report;
    report.limits = lease.spec().limits;
    report.timeout = program.timeout;
    Command command = make_command(std::move(program), lease.spec().image, lease.source_slot());
    if (arguments.has("listenOnPort")) {
      const auto port = static_cast<uint16_t>(arguments.integer("listenOnPort"));
      co_return co_await serve(std::move(lease), std::move(command), port, std::move(report));
    }

    OutputProgress progress{call, context_.clock};
    RunLimits limits;
    limits.timeout = report.timeout;
    limits.output_limit = context_.settings.output_limit;
    report.result = co_await lease.run(std::move(command), limits, progress.live());
    co_return run_tool_result(report);
  }

 private:
  static Task<mcp::ToolResult> serve(Lease lease, Command command, uint16_t port,
                                     RunReport report) {
    publish_port(lease, port, co_await asio::this_coro::executor);
    const std::string id = lease.id();
    const ServerStart start =
        co_await start_server(std::move(lease), std::move(command), port, report.timeout);
    RunResult& result = report.result;
    result.duration = start.ready_after;
    report.failure = start.failure;
    if (start.failure.empty()) {
      report.background = BackgroundInfo{id, start.process->number(), port};
      co_return run_tool_result(report);
    }
    result.outcome = *start.process->outcome();
    const LogBuffer& log = start.process->log();
    LogBuffer::Part part = log.read(0, kShownLog, true);
    result.out.text = std::move(part.text);
    result.out.truncated = part.dropped > 0 || part.more;
    co_return run_tool_result(report);
  }
};

}  // namespace

std::unique_ptr<mcp::Tool> make_run_js(const Context& context) {
  return std::make_unique<RunJs>(context);
}

}  // namespace belljar::tools
