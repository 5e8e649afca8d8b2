#include "tools/npm_rebuild.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"
#include "tools/install_failure.h"
#include "tools/sandbox_files.h"

namespace belljar::tools {

namespace {

using packages::ScriptWork;

constexpr size_t kNpmOutput = 64u << 10;  // enough to read a complaint from
constexpr size_t kShownOutput = 4u << 10;
constexpr std::string_view kFarewell = "rebuilt dependencies successfully\n";

// The end of what scripts print, both streams in the order of their arrival.
class Tail {
 public:
  void add(std::string_view bytes) {
    text_.append(bytes);
    if (text_.size() > 4 * kShownOutput) text_.erase(0, text_.size() - kShownOutput);
  }

  // Whole lines, without what npm itself says when all is well.
  std::string shown() const {
    std::string text = text_;
    for (size_t at = text.find(kFarewell); at != std::string::npos; at = text.find(kFarewell, at))
      text.erase(at, kFarewell.size());
    if (text.size() > kShownOutput) {
      text.erase(0, text.size() - kShownOutput);
      text = "…" + text.substr(std::min(text.find('\n'), text.size()));
    }
    while (text.starts_with('\n')) text.erase(0, 1);
    while (text.ends_with('\n')) text.pop_back();
    return to_utf8(text);
  }

 private:
  std::string text_;
};

// The rest of the first line of npm's complaint that begins so.
std::string rest_of(const NpmComplaint& complaint, std::string_view start) {
  for (const std::string& line : complaint.lines)
    if (line.starts_with(start)) return line.substr(start.size());
  return "";
}

std::string describe_exit(const RunResult& result, const std::vector<std::string>& paths) {
  const NpmComplaint complaint = read_complaint(result.err.text);
  const std::string path = rest_of(complaint, "path /workspace/");
  const std::string name{packages::folder_name(path.empty() ? paths.front() : path)};
  const std::string command = rest_of(complaint, "command /bin/sh -c ");
  return fmt::format(
      "the install script of {} failed{}. Such scripts run without network, so they cannot fetch "
      "anything; leave {} out of packages-allow-scripts to have it without its script",
      name, command.empty() ? "" : fmt::format(" ({})", command), name);
}

Error explain_script(const RunResult& result, const std::vector<std::string>& paths,
                     const SandboxSpec& spec, milliseconds timeout) {
  if (result.outcome.kind == Outcome::Kind::exited)
    return {Code::invalid, describe_exit(result, paths)};
  InstallFailure failure;
  failure.run = result;
  failure.limits = spec.limits;
  failure.timeout = timeout;
  return explain(failure);
}

Task<RunResult> rebuild(Lease& place, const ScriptWork& work, std::vector<std::string> paths,
                        milliseconds timeout, Tail& tail) {
  Command command = rebuild_command(place.spec().image, work.dependencies, paths);
  const RunLimits limits{timeout, kNpmOutput};
  LiveOutput listen = [&tail](Stream, std::string_view bytes) { tail.add(bytes); };
  co_return co_await place.run(std::move(command), limits, std::move(listen));
}

}  // namespace

Command rebuild_command(const Image& image, const std::vector<packages::Dependency>& dependencies,
                        const std::vector<std::string>& paths) {
  Command command = npm_start(image, dependencies);
  command.argv.insert(command.argv.end(),
                      {"rebuild", "--foreground-scripts", "--ignore-scripts=false", "--offline",
                       // npm has a list of its own since version 12; ours has decided already.
                       "--dangerously-allow-all-scripts",
                       // What is in a bundle is nothing that anybody has allowed.
                       "--rebuild-bundle=false"});
  add_npm_settings(command);
  // node-gyp would fetch the headers of Node.js.
  const std::string prefix = image.prefix.empty() ? "/usr" : image.prefix;
  if (::access((prefix + "/include/node/node_version.h").c_str(), R_OK) == 0)
    command.argv.push_back(
        fmt::format("--nodedir={}", image.prefix.empty() ? "/usr" : "/usr/local"));
  command.argv.emplace_back("--");
  for (const std::string& path : paths) command.argv.push_back("./" + path);
  return command;
}

Task<packages::ScriptOutcome> run_install_scripts(NpmContext context, ScriptWork work,
                                                  packages::InstallProgress progress) {
  const SandboxSpec spec = install_spec(context.spec);
  Lease place = co_await context.sandboxes.create_ephemeral(context.owner, spec);
  co_await place.mount_packages(work.directories);
  Tail tail;
  packages::ScriptOutcome outcome;
  const std::vector<std::string>& required = work.plan.required;
  if (progress) progress("running install scripts");
  if (!required.empty()) {
    const RunResult result = co_await rebuild(place, work, required, context.timeout, tail);
    if (!result.outcome.ok()) {
      const Error error = explain_script(result, required, spec, context.timeout);
      const std::string printed = tail.shown();
      fail_with(error.code(), error.what() + (printed.empty() ? "" : "\n\n" + printed));
    }
  }
  for (const std::string& path : work.plan.optional) {
    const std::vector<std::string> one{path};
    const RunResult result = co_await rebuild(place, work, one, context.timeout, tail);
    if (result.outcome.ok()) continue;
    tail.add(fmt::format("\n{} is optional and was left out: {}\n", path,
                         explain_script(result, one, spec, context.timeout).what()));
    outcome.failed.push_back(path);
  }
  const Fd tree = open_node_modules(place);
  if (!tree) fail(Code::unavailable, "the packages are gone after their install scripts ran");
  auto collect = [&work, &tree] { work.collect(tree.get()); };
  co_await run_blocking(std::move(collect));
  log::debug("install scripts of {} ran", fmt::join(required, ", "));
  outcome.output = tail.shown();
  co_return outcome;
}

packages::PackageSets::Npm npm_in_sandbox(const NpmContext& context) {
  packages::PackageSets::Npm npm;
  npm.resolve = [context](const packages::WantedSet& set, packages::InstallProgress progress) {
    return resolve_with_npm(context, set, std::move(progress));
  };
  npm.run_scripts = [context](ScriptWork work, packages::InstallProgress progress) {
    return run_install_scripts(context, std::move(work), std::move(progress));
  };
  return npm;
}

}  // namespace belljar::tools
