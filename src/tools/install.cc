#include "tools/install.h"

#include <fmt/ranges.h>

#include "base/bytes.h"
#include "tools/npm_rebuild.h"

namespace belljar::tools {

namespace {

using packages::FoundSet;
using packages::WantedSet;

constexpr milliseconds kRemoveTimeout{10'000};

[[noreturn]] void fail_for_time(const packages::PackageSets& sets, const std::string& last_message,
                                milliseconds limit) {
  std::string reason;
  if (const std::string name = sets.waiting_for(); !name.empty()) {
    reason = fmt::format("; the registry had not sent {} yet", name);
  } else if (!last_message.empty()) {
    reason = "; belljar was " + last_message;
  }
  fail(Code::exhausted, "ETIMEDOUT: the packages were not installed after {} ms{}", limit.count(),
       reason);
}

Task<FoundSet> find_packages(const InstallContext& context, InstallRequest request,
                             SandboxSpec spec, CLibrary library) {
  WantedSet wanted{request.dependencies, request.lockfile, spec.image.node_version};
  if (library == CLibrary::musl) wanted.libc = "musl";
  wanted.image = spec.image.id;
  const NpmContext npm{context.sandboxes, context.registry, context.clock,  context.downloads,
                       request.owner,     std::move(spec),  request.timeout};
  std::string last_message;
  packages::InstallProgress progress = [&last_message, &request](std::string_view message) {
    last_message = message;
    if (request.progress) request.progress(fmt::format("installing packages: {}", message));
  };
  auto get = context.sets.get(std::move(wanted), npm_in_sandbox(npm), std::move(progress));
  auto found = co_await with_timeout(request.timeout, std::move(get));
  if (!found) fail_for_time(context.sets, last_message, request.timeout);
  co_return std::move(*found);
}

std::string describe(const FoundSet& found, milliseconds time) {
  const packages::LayerInfo& info = *found.layer->info;
  std::string text = fmt::format("{} {} package{}, {}, in {} ms", found.cached ? "found" : "added",
                                 info.package_count, info.package_count == 1 ? "" : "s",
                                 format_bytes(info.bytes), time.count());
  for (const std::string& warning : found.warnings) text += "\nwarning: " + warning;
  if (!found.script_output.empty()) text += "\ninstall scripts:\n" + found.script_output;
  return text;
}

// What a program has put in the place of its packages goes; a program of the sandbox removes it.
Task<> mount(Lease& target, PackageDirectories packages) {
  bool is_blocked = false;
  try {
    co_await target.mount_packages(packages);
  } catch (const Error& e) {
    if (e.code() != Code::invalid) throw;
    is_blocked = true;
  }
  if (!is_blocked) co_return;
  Command remove;
  remove.argv = {"/bin/rm", "-rf", "--", "/workspace/node_modules"};
  const RunLimits limits{kRemoveTimeout, 1024};
  co_await target.run(std::move(remove), limits, nullptr);
  co_await target.mount_packages(std::move(packages));
}

}  // namespace

Task<InstallReport> install_dependencies(const InstallContext& context, InstallRequest request,
                                         Lease& target) {
  using namespace asio::experimental::awaitable_operators;
  const auto begin = context.clock.now();
  SandboxSpec spec = target.spec();
  const CLibrary library = target.sandbox().c_library();
  auto find = settle(find_packages(context, std::move(request), std::move(spec), library));
  auto ended = co_await (std::move(find) || target.stopped());
  if (const auto* reason = std::get_if<1>(&ended)) fail(Code::unavailable, "{}", *reason);
  Settled<FoundSet>& found = std::get<0>(ended);
  if (found.error) std::rethrow_exception(found.error);
  const auto& layer = found.value->layer;
  // The handle keeps the layer, so that it stays while the sandbox has it.
  co_await mount(target, PackageDirectories{layer, &layer->directories});

  InstallReport report;
  report.packages = layer->info->package_count;
  report.cached = found.value->cached;
  report.lockfile = layer->info->lockfile_sha256;
  report.time = std::chrono::duration_cast<milliseconds>(context.clock.now() - begin);
  report.output = describe(*found.value, report.time);
  report.warnings = std::move(found.value->warnings);
  co_return report;
}

}  // namespace belljar::tools
