#include "tools/basic_tool.h"
#include "tools/network_access.h"
#include "tools/program_run.h"
#include "tools/publishing.h"
#include "tools/sandbox_options.h"

namespace belljar::tools {

namespace {

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
  info.open_world = reaches_outside(settings);
  info.tasks = mcp::TaskSupport::optional;
  return info;
}

std::vector<Parameter> parameters(const Settings& settings) {
  std::vector<Parameter> all{
      container_parameter(), code_parameter(settings),
      port_parameter("listenOnPort",
                     fmt::format("For a server: the port the program listens on, 1024 or more; 0: "
                                 "belljar chooses one, which the program finds in "
                                 "process.env.PORT. It is left running, the port is published at "
                                 "the same port of {} on the host, and the call returns as soon as "
                                 "it accepts connections. timeoutMs limits how long that may take.",
                                 settings.publish_address.to_string()))};
  std::vector<Parameter> wanted = packages_parameters();
  all.insert(all.begin() + 2, wanted.begin(), wanted.end());
  for (Parameter& parameter : program_parameters(settings)) all.push_back(std::move(parameter));
  all.push_back(unchanged_network_parameter());
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
    ProgramRun run;
    run.program = read_program(arguments, context_.settings);
    run.packages = read_packages(arguments);
    run.in_session = true;
    run.listen_on = read_port(arguments, "listenOnPort");
    if (run.listen_on == 0 && run.program.env.contains(kPortVariable)) {
      fail(Code::invalid,
           "argument \"listenOnPort\" is 0, so belljar chooses the port and tells the program by "
           "PORT, but \"env\" sets PORT, too; leave that out, or pass the number as "
           "listenOnPort");
    }
    Lease lease = context_.sandboxes.use(arguments.string("container_id"), call.owner());
    check_limits_unchanged(arguments, lease.spec().limits);
    check_network_unchanged(arguments, lease);
    RunReport report;
    co_return co_await run_and_report(context_, std::move(lease), std::move(run), std::move(report),
                                      call);
  }
};

}  // namespace

std::unique_ptr<mcp::Tool> make_run_js(const Context& context) {
  return std::make_unique<RunJs>(context);
}

}  // namespace belljar::tools
