#include "tools/npm_resolve.h"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/bytes.h"
#include "base/json.h"
#include "base/posix.h"
#include "base/utf8.h"
#include "packages/registry_proxy.h"
#include "tools/install_failure.h"

namespace belljar::tools {

namespace {

using packages::Dependency;
using packages::Lockfile;
using packages::RegistryProxy;

constexpr uint64_t kNpmMemory = 1ull << 30;
constexpr size_t kNpmOutput = 64u << 10;  // enough to read a complaint from
constexpr size_t kShownOutput = 4u << 10;
constexpr size_t kLargestLockfile = 16u << 20;
constexpr milliseconds kProgressPause{250};

// Tells the client how far npm is, but not too often.
class NpmProgress {
 public:
  NpmProgress(const Clock& clock, packages::InstallProgress tell)
      : clock_{clock}, tell_{std::move(tell)} {}

  void update(const RegistryProxy& proxy) {
    if (!tell_ || clock_.now() < next_) return;
    next_ = clock_.now() + kProgressPause;
    tell_(fmt::format("npm looks for packages that fit: {} looked at, {}", proxy.packages(),
                      format_bytes(proxy.bytes())));
  }

 private:
  const Clock& clock_;
  packages::InstallProgress tell_;
  Clock::Time next_{};
};

// How much of the time for the whole install is left.
class Deadline {
 public:
  Deadline(const Clock& clock, milliseconds limit) : clock_{clock}, end_{clock.now() + limit} {}
  milliseconds left() const {
    const auto left = std::chrono::duration_cast<milliseconds>(end_ - clock_.now());
    return std::max(left, milliseconds{1});
  }

 private:
  const Clock& clock_;
  Clock::Time end_;
};

std::vector<std::string> names_of(const std::vector<Dependency>& dependencies) {
  std::vector<std::string> names;
  names.reserve(dependencies.size());
  for (const Dependency& one : dependencies) names.push_back(one.name);
  return names;
}

std::string shown_output(const RunResult& result) {
  std::string text = result.out.text + result.err.text;
  while (text.starts_with('\n')) text.erase(0, 1);
  while (text.ends_with('\n')) text.pop_back();
  text.resize(utf8_prefix(text, kShownOutput));
  return text;
}

[[noreturn]] void fail_install(const RegistryProxy& proxy, InstallFailure failure) {
  failure.complaint = read_complaint(failure.run.err.text);
  failure.trouble = proxy.trouble();
  failure.waiting_for = proxy.waiting_for();
  const auto* document = proxy.document(name_in_spec(failure.complaint.unmatched()));
  if (document != nullptr && document->tags.contains("latest"))
    failure.newest = document->tags.at("latest");
  const Error error = explain(failure);
  const std::string output = shown_output(failure.run);
  fail_with(error.code(), error.what() + (output.empty() ? "" : "\n\n" + output));
}

// By a program in the sandbox: its files are not looked at from outside.
Task<Lockfile> read_lockfile(Lease& place, milliseconds limit) {
  Command show;
  show.argv = {"/bin/cat", "/workspace/package-lock.json"};
  const RunLimits limits{limit, kLargestLockfile};
  const RunResult result = co_await place.run(std::move(show), limits, nullptr);
  if (!result.outcome.ok() || result.out.truncated)
    fail(Code::unavailable, "npm made no lockfile that can be read: {}", shown_output(result));
  auto parse = [&result] { return Lockfile::parse(result.out.text); };
  co_return co_await run_blocking(std::move(parse));
}

}  // namespace

std::string npm_program(const Image& image) {
  // A sandbox sees the prefix as /usr/local and the host's /usr as it is.
  if (!image.prefix.empty()) {
    const std::string path = "/lib/node_modules/npm/bin/npm-cli.js";
    if (::access((image.prefix + path).c_str(), R_OK) == 0) return "/usr/local" + path;
  } else {
    for (const char* path :
         {"/usr/lib/node_modules/npm/bin/npm-cli.js", "/usr/share/nodejs/npm/bin/npm-cli.js"})
      if (::access(path, R_OK) == 0) return path;
  }
  fail(Code::unavailable,
       "{} has no npm, so it cannot install dependencies; choose another image, such as "
       "node:lts-slim",
       image.name);
}

// npm reads and writes a lot and computes little, so it gets what the machine has.
SandboxSpec install_spec(const SandboxSpec& program) {
  SandboxSpec spec;
  spec.image = program.image;
  spec.limits = program.limits;
  spec.limits.memory = std::max(kNpmMemory, program.limits.memory);
  spec.limits.cpus = std::max(1u, std::thread::hardware_concurrency());
  return spec;
}

Command npm_start(const Image& image, const std::vector<Dependency>& dependencies) {
  json::object versions;
  for (const Dependency& one : dependencies) versions[one.name] = one.version;
  const json::object package{{"type", "module"}, {"dependencies", std::move(versions)}};
  Command command;
  command.source = SourceFile{"/workspace/package.json", json::serialize(package)};
  command.argv = {node_path(image), npm_program(image)};
  return command;
}

void add_npm_settings(Command& command) {
  command.argv.insert(command.argv.end(),
                      {"--userconfig=/dev/null",
                       "--globalconfig=/nonexistent",  // npm refuses the same file twice
                       "--cache=/tmp/npm-cache", "--script-shell=/bin/sh",
                       "--node-options=", "--no-audit", "--no-fund", "--no-update-notifier",
                       "--no-progress", "--no-color", "--loglevel=error", "--logs-max=0"});
}

Command npm_command(const Image& image, const std::vector<Dependency>& dependencies,
                    const std::string& registry, Tarballs tarballs) {
  Command command = npm_start(image, dependencies);
  command.argv.insert(
      command.argv.end(),
      {"install", "--package-lock-only", "--registry=" + registry, "--replace-registry-host=never",
       // Nothing of a package is run, and nothing comes from anywhere but the registry.
       "--ignore-scripts", "--allow-git=none", "--allow-remote=none", "--allow-file=none",
       "--allow-directory=none",
       // The address of this one install's registry means nothing afterwards.
       "--omit-lockfile-registry-resolved",
       // belljar itself tries twice; npm would wait 10 s in between.
       "--fetch-retries=0"});
  add_npm_settings(command);
  if (tarballs == Tarballs::yes)
    command.argv.emplace_back("--allow-remote=all");  // the last counts
  return command;
}

namespace {

// To see what is bundled in a package npm must have its tarball. The sandbox reaches nothing but
// the registry's packages anyway, and a lockfile with anything else is refused.
Task<RunResult> run_npm(Lease& place, std::vector<Dependency> dependencies, std::string registry,
                        const Deadline& deadline) {
  RunResult result;
  for (const Tarballs tarballs : {Tarballs::no, Tarballs::yes}) {
    Command command = npm_command(place.spec().image, dependencies, registry, tarballs);
    const RunLimits limits{deadline.left(), kNpmOutput};
    result = co_await place.run(std::move(command), limits, nullptr);
    const bool wants_tarball = read_complaint(result.err.text).code == "EALLOWREMOTE" &&
                               result.err.text.find(registry) != std::string::npos;
    if (!wants_tarball) break;
  }
  co_return result;
}

}  // namespace

Task<Lockfile> resolve_with_npm(NpmContext context, packages::WantedSet wanted,
                                packages::InstallProgress tell) {
  using namespace asio::experimental::awaitable_operators;
  const Deadline deadline{context.clock, context.timeout};
  const SandboxSpec spec = install_spec(context.spec);
  make_directories(context.downloads, 0700);
  Lease place = co_await context.sandboxes.create_ephemeral(context.owner, spec);
  Fd listener = co_await place.listen();

  NpmProgress progress{context.clock, std::move(tell)};
  RegistryProxy::Progress on_progress = [&progress](const RegistryProxy& now) {
    progress.update(now);
  };
  RegistryProxy proxy{context.registry, std::move(listener), context.downloads,
                      packages::ProxyLimits{}, std::move(on_progress)};
  auto names = names_of(wanted.dependencies);
  auto ended = co_await (settle(run_npm(place, wanted.dependencies, proxy.url(), deadline)) ||
                         proxy.serve(std::move(names)));
  Settled<RunResult>& npm = std::get<0>(ended);
  if (npm.error) std::rethrow_exception(npm.error);
  if (!npm.value->outcome.ok()) {
    InstallFailure failure;
    failure.run = std::move(*npm.value);
    failure.limits = spec.limits;
    failure.timeout = context.timeout;
    fail_install(proxy, std::move(failure));
  }
  co_return co_await read_lockfile(place, deadline.left());
}

}  // namespace belljar::tools
