#include "tools/program_run.h"

#include "network/published_port.h"
#include "tools/advice.h"
#include "tools/lint.h"
#include "tools/network_access.h"
#include "tools/progress.h"
#include "tools/publishing.h"
#include "tools/sandbox_options.h"
#include "tools/server_program.h"

namespace belljar::tools {

namespace {

constexpr size_t kShownLog = 1u << 20;  // of a server that did not start

// Starts the server and leaves it running; its output so far is in the report only if it failed.
Task<> serve(const Context& context, Lease lease, Command command,
             std::shared_ptr<const ServerPort> port, std::string owner, RunReport& report) {
  const std::string id = lease.id();
  const ServerStart start =
      co_await start_server(std::move(lease), std::move(command), port, report.timeout);
  report.result.duration = start.ready_after;
  report.failure = start.failure;
  if (start.failure.empty()) {
    const uint16_t number = port->number();
    const std::string url = network::url_of(context.settings.publish_address, number);
    report.background = BackgroundInfo{id, start.process->number(), number, url};
    if (context.previews != nullptr) {
      report.background->preview = context.previews->link(owner, id, number);
    }
    co_return;
  }
  report.result.outcome = *start.process->outcome();
  LogBuffer::Part part = start.process->log().read(0, kShownLog, true);
  report.result.err.text = std::move(part.text);
  report.result.err.truncated = part.dropped > 0 || part.more;
}

// The first line of the answer, and what static checks have to say.
Task<> explain(const Context& context, Lease& lease, const ProgramRun& run, std::string path,
               RunReport& report) {
  report.lint = co_await lint(lease, report.result.outcome, std::move(path));
  FailedRun failed{report, run.program.code};
  failed.language = run.program.language;
  for (const packages::Dependency& dependency : run.packages.dependencies) {
    failed.dependencies.push_back(dependency.name);
  }
  failed.session = run.in_session;
  failed.published = run.listen_on.has_value();
  failed.host_files = context.files != nullptr;
  failed.max_limits = highest_limits(context.settings, lease.spec().image.name);
  failed.max_timeout = context.settings.max_run_timeout;
  failed.network = lease.spec().network;
  failed.by_proxy = lease.spec().image.is_of_engine();
  failed.max_network = most_network(context.settings);
  report.failure = explain_failure(failed, "the program");
}

}  // namespace

Task<mcp::ToolResult> run_and_report(const Context& context, Lease lease, ProgramRun run,
                                     RunReport report, mcp::Call& call) {
  report.limits = lease.spec().limits;
  report.timeout = run.program.timeout;
  report.isolation = lease.sandbox().isolation();
  Command command = make_command(run.program, lease.spec().image, lease.source_slot());
  const std::string path = command.source->path;
  std::shared_ptr<const ServerPort> port;
  if (run.listen_on) {
    port = co_await ServerPort::reserve(lease, *run.listen_on, context.settings.publish_address);
    command.env.emplace(kPortVariable, std::to_string(port->number()));
  }
  if (!run.packages.empty()) {
    report.install = co_await install_for_call(context, run.packages, run.in_session, lease, call);
  }

  const auto before = context.clock.now();
  FilesOfRun files = co_await FilesOfRun::begin(context, lease);
  const auto begin = context.clock.now();
  const NetworkOfRun network{lease};
  Lease own = lease.again();
  if (port) {
    // The lease with the program's file goes along with the program.
    co_await serve(context, std::move(lease), std::move(command), port, call.owner(), report);
  } else {
    OutputProgress progress{call, context.clock};
    RunLimits limits;
    limits.timeout = report.timeout;
    limits.output_limit = context.settings.output_limit;
    report.result = co_await lease.run(std::move(command), limits, progress.live());
  }
  const auto end = context.clock.now();
  report.files = co_await files.finish();
  report.files_time = std::chrono::duration_cast<std::chrono::microseconds>(
      (begin - before) + (context.clock.now() - end));
  report.network = network.traffic();
  if (has_failed(report)) co_await explain(context, own, run, path, report);
  co_return run_tool_result(std::move(report));
}

}  // namespace belljar::tools
