#include "tools/install.h"

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
using packages::RegistryProxy;

constexpr uint64_t kNpmMemory = 1ull << 30;
constexpr size_t kNpmOutput = 64u << 10;  // enough to read a complaint from
constexpr size_t kShownOutput = 4u << 10;
constexpr milliseconds kProgressPause{250};
constexpr milliseconds kNearNamesTimeout{3000};

// npm reads and writes a lot and computes little, so it gets what the machine has.
SandboxSpec install_spec(const SandboxSpec& program) {
  SandboxSpec spec;
  spec.image = program.image;
  spec.limits = program.limits;
  spec.limits.memory = std::max(kNpmMemory, program.limits.memory);
  spec.limits.cpus = std::max(1u, std::thread::hardware_concurrency());
  return spec;
}

// Tells the client how far npm is, but not too often.
class InstallProgress {
 public:
  InstallProgress(const Clock& clock, const InstallRequest& request)
      : clock_{clock}, request_{request} {}

  void update(const RegistryProxy& proxy) {
    if (!request_.progress || clock_.now() < next_) return;
    next_ = clock_.now() + kProgressPause;
    const size_t count = request_.dependencies.size();
    request_.progress(fmt::format("installing {} package{}: {} fetched, {}", count,
                                  count == 1 ? "" : "s", proxy.packages(),
                                  format_bytes(proxy.bytes())));
  }

 private:
  const Clock& clock_;
  const InstallRequest& request_;
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

Task<std::vector<std::string>> near_names(const InstallContext& context, std::string name) {
  std::vector<std::string> names;
  if (!context.near_names) co_return names;
  try {
    auto found = co_await with_timeout(kNearNamesTimeout, context.near_names(std::move(name)));
    if (found) names = std::move(*found);
  } catch (const Error&) {
    names.clear();  // what npm complained about is worth more than why there is no advice
  }
  co_return names;
}

Task<> fail_install(const InstallContext& context, const RegistryProxy& proxy,
                    InstallFailure failure) {
  failure.complaint = read_complaint(failure.run.err.text);
  failure.trouble = proxy.trouble();
  failure.waiting_for = proxy.waiting_for();
  if (failure.trouble && failure.trouble->code == Code::not_found)
    failure.near = co_await near_names(context, failure.trouble->package);
  const auto* document = proxy.document(name_in_spec(failure.complaint.unmatched()));
  if (document != nullptr && document->tags.contains("latest"))
    failure.newest = document->tags.at("latest");
  const Error error = explain(failure);
  const std::string output = shown_output(failure.run);
  fail_with(error.code(), error.what() + (output.empty() ? "" : "\n\n" + output));
}

void check_copy(const RunResult& packed, const RunResult& unpacked, const Limits& limits) {
  const bool full = unpacked.err.text.find("No space left on device") != std::string::npos;
  if (full)
    fail(Code::exhausted,
         "the packages need more than the {} of disk that the sandbox has left; raise limits.disk "
         "or install fewer",
         format_bytes(limits.disk));
  for (const RunResult* result : {&unpacked, &packed}) {
    if (result->outcome.ok()) continue;
    if (!result->stop_reason.empty()) fail(Code::unavailable, "{}", result->stop_reason);
    if (result->outcome.kind == Outcome::Kind::timed_out)
      fail(Code::exhausted, "ETIMEDOUT: there was no time left to copy the packages");
    fail(Code::unavailable, "the packages could not be copied into the sandbox: {}",
         shown_output(*result));
  }
}

// Neither side's files are looked at from outside: both tars run with a program's rights.
Task<> copy_packages(Lease& from, Lease& to, milliseconds limit) {
  using namespace asio::experimental::awaitable_operators;
  Pipe pipe = make_pipe();
  Command pack;
  pack.argv = {"/bin/tar",         "-cf", "-", "-C", "/workspace", "--", "node_modules",
               "package-lock.json"};
  pack.output_file = std::make_shared<const Fd>(std::move(pipe.write));
  Command unpack;
  unpack.argv = {"/bin/tar", "-xf", "-", "-C", "/workspace", "--recursive-unlink"};
  unpack.input_file = std::make_shared<const Fd>(std::move(pipe.read));
  const RunLimits limits{limit, kShownOutput};
  const auto [packed, unpacked] = co_await (from.run(std::move(pack), limits, nullptr) &&
                                            to.run(std::move(unpack), limits, nullptr));
  check_copy(packed, unpacked, to.spec().limits);
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

Command npm_command(const Image& image, const std::vector<Dependency>& dependencies,
                    const std::string& registry) {
  json::object versions;
  for (const Dependency& one : dependencies) versions[one.name] = one.version;
  const json::object package{{"type", "module"}, {"dependencies", std::move(versions)}};
  Command command;
  command.source = SourceFile{"/workspace/package.json", json::serialize(package)};
  command.argv = {
      node_path(image), npm_program(image), "install", "--registry=" + registry,
      "--replace-registry-host=never", "--userconfig=/dev/null",
      "--globalconfig=/nonexistent",  // npm refuses the same file twice
      "--cache=/tmp/npm-cache",
      // Nothing of a package is run, and nothing comes from anywhere but the registry.
      "--ignore-scripts", "--script-shell=/bin/sh", "--node-options=", "--allow-git=none",
      "--allow-remote=none", "--allow-file=none", "--allow-directory=none",
      // The address of this one install's registry means nothing afterwards.
      "--omit-lockfile-registry-resolved", "--no-audit", "--no-fund", "--no-update-notifier",
      "--no-progress", "--no-color", "--loglevel=error", "--logs-max=0",
      // belljar itself tries twice; npm would wait 10 s in between.
      "--fetch-retries=0"};
  return command;
}

Task<InstallReport> install_dependencies(const InstallContext& context, InstallRequest request,
                                         Lease& target) {
  using namespace asio::experimental::awaitable_operators;
  const auto begin = context.clock.now();
  const Deadline deadline{context.clock, request.timeout};
  const SandboxSpec spec = install_spec(target.spec());
  make_directories(context.downloads, 0700);
  Lease place = co_await context.sandboxes.create_ephemeral(request.owner, spec);
  Fd listener = co_await place.listen();

  InstallProgress progress{context.clock, request};
  RegistryProxy::Progress on_progress = [&progress](const RegistryProxy& now) {
    progress.update(now);
  };
  RegistryProxy proxy{context.registry, std::move(listener), context.downloads,
                      packages::ProxyLimits{}, std::move(on_progress)};
  Command command = npm_command(spec.image, request.dependencies, proxy.url());
  const RunLimits limits{deadline.left(), kNpmOutput};
  auto names = names_of(request.dependencies);
  auto ended = co_await (settle(place.run(std::move(command), limits, nullptr)) ||
                         proxy.serve(std::move(names)) || target.stopped());
  if (const auto* reason = std::get_if<2>(&ended)) fail(Code::unavailable, "{}", *reason);
  Settled<RunResult>& npm = std::get<0>(ended);
  if (npm.error) std::rethrow_exception(npm.error);
  if (!npm.value->outcome.ok()) {
    InstallFailure failure;
    failure.run = std::move(*npm.value);
    failure.limits = spec.limits;
    failure.timeout = request.timeout;
    co_await fail_install(context, proxy, std::move(failure));
  }
  co_await copy_packages(place, target, deadline.left());

  InstallReport report;
  report.packages = proxy.packages();
  report.output = shown_output(*npm.value);
  report.time = std::chrono::duration_cast<milliseconds>(context.clock.now() - begin);
  co_return report;
}

}  // namespace belljar::tools
