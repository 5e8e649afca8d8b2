#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iterator>

#include "app/commands.h"
#include "app/dependency_words.h"
#include "app/wiring.h"
#include "base/json.h"
#include "base/posix.h"
#include "tools/network_access.h"
#include "tools/program.h"
#include "tools/program_run.h"
#include "tools/run_result.h"
#include "tools/sandbox_options.h"

namespace belljar::app {

namespace {

using std::chrono::microseconds;

std::string read_stdin(size_t limit) {
  return read_to_end(STDIN_FILENO, "standard input", limit);
}

tools::Program to_program(const RunOptions& options, const tools::Settings& settings) {
  tools::Program program;
  program.code = options.file.empty()  ? options.code
                 : options.file == "-" ? read_stdin(settings.code_limit)
                                       : read_file(options.file, settings.code_limit);
  const std::string extension = std::filesystem::path{options.file}.extension().string();
  const bool typescript = options.language.empty()
                              ? extension == ".ts" || extension == ".mts" || extension == ".cts"
                              : options.language == "typescript";
  program.language =
      typescript ? tools::Program::Language::typescript : tools::Program::Language::javascript;
  program.args = options.args;
  program.env = options.env;
  if (options.pass_stdin && options.file != "-") program.input = read_stdin(settings.stdin_limit);
  program.timeout = settings.run_timeout;
  return program;
}

void copy_to_terminal(Stream stream, std::string_view bytes) {
  const int fd = stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO;
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written <= 0 && errno != EINTR) return;  // the reader is gone
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void show_progress(std::string_view message) {
  fmt::print(stderr, "belljar: {}\n", message);
}

// Measures one step after the other.
class Stopwatch {
 public:
  explicit Stopwatch(const Clock& clock) : clock_{clock}, last_{clock.now()} {}
  microseconds lap() {
    const auto now = clock_.now();
    return std::chrono::duration_cast<microseconds>(now - std::exchange(last_, now));
  }

 private:
  const Clock& clock_;
  Clock::Time last_;
};

struct Times {
  microseconds image{0};
  microseconds create{0};
  microseconds install{0};
  microseconds run{0};
  microseconds destroy{0};
};

void print_times(const Times& times, const Image& image) {
  const auto row = [](const char* what, microseconds time) {
    fmt::print(stderr, "  {:<34}{:>9.2f} ms\n", what, static_cast<double>(time.count()) / 1000);
  };
  fmt::print(stderr, "\nWhere the time went (Node.js {}):\n", image.node_version);
  row("find the Node.js runtime", times.image);
  row("make the sandbox", times.create);
  if (times.install.count() > 0) row("install the dependencies", times.install);
  row("start Node.js and run the program", times.run);
  row("destroy the sandbox", times.destroy);
}

int exit_status(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::exited: return outcome.code;
    case Outcome::Kind::timed_out: return 124;  // as timeout(1)
    case Outcome::Kind::signaled: return 128 + outcome.code;
    case Outcome::Kind::out_of_memory:
    case Outcome::Kind::cancelled: return 128 + SIGKILL;
  }
  return 1;
}

// The first sandbox of a process also makes the template; `--time` is about what each run costs.
Task<> warm_up(Wiring& wiring, SandboxSpec spec) {
  const auto sandbox = co_await wiring.driver().create(std::move(spec));
  co_await sandbox->destroy();
}

Task<int> run_one(Wiring& wiring, const Config& config, RunOptions options,
                  tools::Program program) {
  co_await wiring.check_host(config.require);
  std::vector<packages::Dependency> dependencies = to_dependencies(options.dependencies);
  const tools::Context context = wiring.context(config.tools);
  Stopwatch watch{wiring.clock()};
  Times times;
  const Image image = co_await wiring.resolve(config.tools.default_image, show_progress);
  times.image = watch.lap();
  SandboxSpec spec;
  spec.image = image;
  spec.limits = tools::usual_limits(config.tools, config.tools.default_image);
  if (options.show_time) {
    co_await warm_up(wiring, spec);
    watch.lap();
  }
  if (wiring.files() != nullptr) spec.files = wiring.files()->handle;
  const network::Policy policy = tools::usual_network(config.tools);
  spec.network = tools::network_of(policy);
  tools::RunReport report;
  report.limits = spec.limits;
  report.timeout = program.timeout;
  Lease lease = co_await wiring.sandboxes().create_ephemeral("", std::move(spec));
  co_await tools::open_network(context, lease, policy);
  times.create = watch.lap();
  if (!dependencies.empty()) {
    tools::InstallRequest request;
    request.dependencies = std::move(dependencies);
    report.install = co_await tools::install_for_run(context, std::move(request), lease);
    times.install = watch.lap();
    for (const std::string& warning : report.install->warnings) show_progress(warning);
  }
  Command command = tools::make_command(std::move(program), image, lease.source_slot());
  const RunLimits limits{report.timeout, config.tools.output_limit};
  LiveOutput live;
  if (!options.json) live = copy_to_terminal;
  report.result = co_await lease.run(std::move(command), limits, std::move(live));
  times.run = watch.lap();
  if (lease.connectivity()) report.network = lease.connectivity()->traffic();
  co_await lease.sandbox().destroy();
  times.destroy = watch.lap();
  report.image_time = times.image;
  report.create_time = times.create;
  report.isolation = lease.sandbox().isolation();
  const Outcome outcome = report.result.outcome;
  if (options.json) {
    const mcp::ToolResult result = tools::run_tool_result(std::move(report));
    fmt::print("{}\n", json::serialize(*result.structured));
  } else if (outcome.kind != Outcome::Kind::exited) {
    fmt::print(stderr, "belljar: {}\n", tools::failure_reason(report, "the program"));
  }
  if (options.show_time) print_times(times, image);
  co_return exit_status(outcome);
}

}  // namespace

int run_command(const LoadedConfig& loaded, const RunOptions& options) {
  // Before the right to read it is given up.
  tools::Program program = to_program(options, loaded.config.tools);
  auto foundation = lay_foundation(loaded.config, LocalSocket::no);
  Config config = loaded.config;
  config.spare_sandboxes = 0;  // there is no next call
  if (config.node_start == NodeStart::automatic) config.node_start = NodeStart::exec;
  std::function<Task<int>(Wiring&)> work = [&config, &options, &program](Wiring& wiring) {
    return run_one(wiring, config, options, std::move(program));
  };
  return run_to_end([&config, &work, &foundation](const asio::any_io_executor&) {
    return with_wiring(config, std::move(foundation), std::move(work));
  });
}

}  // namespace belljar::app
