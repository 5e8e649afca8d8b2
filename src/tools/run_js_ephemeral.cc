#include "tools/basic_tool.h"
#include "tools/network_access.h"
#include "tools/program_run.h"
#include "tools/sandbox_options.h"

namespace belljar::tools {

namespace {

mcp::ToolInfo describe(const Settings& settings) {
  mcp::ToolInfo info;
  info.name = "run_js_ephemeral";
  info.title = "Run JavaScript once";
  info.description =
      "Runs a JavaScript or TypeScript program in a fresh sandbox, returns what it printed, and "
      "destroys the sandbox. Nothing is kept for the next call; to keep files between programs use "
      "sandbox_initialize and run_js. " +
      surroundings(settings);
  info.output_schema = run_output_schema();
  info.destructive = false;
  info.open_world = reaches_outside(settings);
  info.tasks = mcp::TaskSupport::optional;
  return info;
}

std::vector<Parameter> parameters(const Settings& settings) {
  std::vector<Parameter> all{code_parameter(settings)};
  for (Parameter& parameter : packages_parameters()) all.push_back(std::move(parameter));
  all.push_back(image_parameter(settings));
  for (Parameter& parameter : program_parameters(settings)) all.push_back(std::move(parameter));
  all.push_back(network_parameter(settings));
  all.push_back(limits_parameter(settings));
  return all;
}

class RunJsEphemeral final : public BasicTool {
 public:
  explicit RunJsEphemeral(const Context& context)
      : BasicTool{context, describe(context.settings), parameters(context.settings)} {}

  Task<mcp::ToolResult> call(json::object sent, mcp::Call& call) override {
    const Settings& settings = context_.settings;
    const Arguments arguments = read(sent);
    ProgramRun run;
    run.program = read_program(arguments, settings);
    run.packages = read_packages(arguments);
    SandboxSpec spec;
    spec.limits = read_limits(arguments, settings);
    const network::Policy network = read_network(arguments, settings);
    if (context_.files != nullptr) spec.files = context_.files->handle;

    const auto begin = context_.clock.now();
    std::function<void(std::string_view)> tell = [&call](std::string_view text) {
      call.progress(text);
    };
    spec.image = co_await context_.images.resolve(read_image_name(arguments), std::move(tell));
    spec.network = network_of(network);
    check_language(run.program, spec.image);  // before anything is made
    const auto resolved = context_.clock.now();
    Lease lease = co_await context_.sandboxes.create_ephemeral(call.owner(), std::move(spec));
    co_await open_network(context_, lease, network);
    const auto created = context_.clock.now();

    RunReport report;
    report.image_time = std::chrono::duration_cast<std::chrono::microseconds>(resolved - begin);
    report.create_time = std::chrono::duration_cast<std::chrono::microseconds>(created - resolved);
    co_return co_await run_and_report(context_, std::move(lease), std::move(run), std::move(report),
                                      call);
  }
};

}  // namespace

std::unique_ptr<mcp::Tool> make_run_js_ephemeral(const Context& context) {
  return std::make_unique<RunJsEphemeral>(context);
}

}  // namespace belljar::tools
