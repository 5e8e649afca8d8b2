#include "tools/run_packages.h"

#include <algorithm>

#include "base/json.h"
#include "base/log.h"
#include "files/directory.h"

namespace belljar::tools {

namespace {

using packages::Dependency;
using packages::Lockfile;

constexpr std::string_view kLockfiles = "belljar://lockfiles/";
constexpr size_t kLargestLockfile = 16u << 20;
constexpr size_t kLargestPackageJson = 64u << 10;
constexpr milliseconds kWriteTimeout{10'000};

// As every sandbox has it at first.
constexpr std::string_view kFirstPackageJson = "{\"type\":\"module\"}\n";

Task<std::shared_ptr<const Lockfile>> read_lockfile(const Context& context, std::string text) {
  if (const auto sha256 = lockfile_of_uri(text)) {
    auto kept = co_await context.packages.lockfile(*sha256);
    if (!kept)
      fail(Code::not_found,
           "argument \"lockfile\" names a lockfile that is not kept here any more; pass the text "
           "of package-lock.json, or leave it out");
    text = std::move(*kept);
  }
  auto parse = [&text] { return std::make_shared<const Lockfile>(Lockfile::parse(text)); };
  co_return co_await run_blocking(std::move(parse));
}

// That the dependencies are what the lockfile is of, as `npm ci` demands it.
void check_same(const std::vector<Dependency>& dependencies, const Lockfile& lockfile) {
  for (const Dependency& one : dependencies) {
    const auto at = std::find_if(lockfile.dependencies.begin(), lockfile.dependencies.end(),
                                 [&one](const Dependency& it) { return it.name == one.name; });
    if (at != lockfile.dependencies.end() && at->version == one.version) continue;
    fail(Code::invalid,
         "argument \"lockfile\" is not of these dependencies: {} {} is not among them; leave out "
         "\"dependencies\", which the lockfile names itself, or leave out \"lockfile\"",
         one.name, one.version);
  }
}

std::vector<Dependency> merged(std::map<std::string, std::string> earlier,
                               const std::vector<Dependency>& wanted) {
  for (const Dependency& one : wanted) earlier[one.name] = one.version;
  std::vector<Dependency> all;
  for (const auto& [name, version] : earlier) all.push_back({name, version});
  return all;
}

std::string package_json_of(const std::map<std::string, std::string>& dependencies) {
  json::object versions;
  for (const auto& [name, version] : dependencies) versions[name] = version;
  return json::serialize(json::object{{"type", "module"}, {"dependencies", std::move(versions)}}) +
         "\n";
}

// So that `npm install` typed by hand knows what is there already, and keeps it. A package.json
// that the session has changed is its own.
Task<> tell_npm(Lease& lease, const std::map<std::string, std::string>& before) {
  const int workspace = lease.sandbox().workspace();
  if (workspace < 0) co_return;
  const std::string ours =
      before.empty() ? std::string{kFirstPackageJson} : package_json_of(before);
  const files::Directory directory{workspace};
  auto read = [&directory] { return directory.read("package.json", 0, kLargestPackageJson); };
  try {
    const std::string now = co_await run_blocking(std::move(read));
    if (now != ours) co_return;
    Command write;
    write.argv = {"/bin/true"};
    write.source = SourceFile{"/workspace/package.json", package_json_of(lease.dependencies())};
    const RunLimits limits{kWriteTimeout, 1024};
    co_await lease.run(std::move(write), limits, nullptr);
  } catch (const Error& e) {
    log::debug("package.json of a session stays as it is: {}", e.what());
  }
}

}  // namespace

std::string uri_of_lockfile(const std::string& sha256) {
  return std::string{kLockfiles} + sha256;
}

std::optional<std::string> lockfile_of_uri(std::string_view uri) {
  if (!uri.starts_with(kLockfiles)) return std::nullopt;
  return std::string{uri.substr(kLockfiles.size())};
}

std::vector<Parameter> packages_parameters() {
  Parameter package{.name = "dependency", .type = Parameter::Type::object};
  package.fields = {
      Parameter{.name = "name", .description = "npm package name.", .required = true},
      Parameter{.name = "version",
                .description = "Version, range or dist-tag, such as \"latest\" or \"^4.17.0\".",
                .required = true}};
  Parameter dependencies{
      .name = "dependencies",
      .type = Parameter::Type::array,
      .description =
          "npm packages that the program imports; installed before it runs, without "
          "their install scripts. Node's own modules need no entry.",
      .fallback = json::value(json::array{}),
      .max_length = packages::kMaxDependencies,
      .fields = {std::move(package)}};
  Parameter lockfile{
      .name = "lockfile",
      .description =
          "To have exactly the packages of an earlier run again: its install.lockfile.uri, "
          "or the text of a package-lock.json. Then \"dependencies\" is not needed.",
      .fallback = json::value(""),
      .max_length = kLargestLockfile};
  return {std::move(dependencies), std::move(lockfile)};
}

RunPackages read_packages(const Arguments& arguments) {
  RunPackages result;
  for (const Arguments& entry : arguments.objects("dependencies")) {
    result.dependencies.push_back({entry.string("name"), entry.string("version")});
  }
  packages::check_dependencies(result.dependencies);
  result.lockfile = arguments.string("lockfile");
  return result;
}

Task<InstallReport> install_for_run(const Context& context, InstallRequest request, Lease& lease) {
  const InstallContext with{context.sandboxes, context.registry, context.packages, context.clock,
                            context.settings.downloads_dir};
  request.timeout = context.settings.install_timeout;
  co_return co_await install_dependencies(with, std::move(request), lease);
}

Task<InstallReport> install_for_call(const Context& context, RunPackages packages, bool in_session,
                                     Lease& lease, mcp::Call& call) {
  const auto turn = co_await lease.wait_to_install();
  InstallRequest request;
  request.owner = call.owner();
  request.progress = [&call](std::string_view text) { call.progress(text); };
  if (!packages.lockfile.empty()) {
    request.lockfile = co_await read_lockfile(context, std::move(packages.lockfile));
    check_same(packages.dependencies, *request.lockfile);
    request.dependencies = request.lockfile->dependencies;
  } else {
    request.dependencies = merged(lease.dependencies(), packages.dependencies);
  }
  std::map<std::string, std::string> wanted;
  for (const Dependency& one : request.dependencies) wanted[one.name] = one.version;
  InstallReport report = co_await install_for_run(context, std::move(request), lease);
  if (in_session && wanted != lease.dependencies()) {
    const auto before = std::exchange(lease.dependencies(), std::move(wanted));
    co_await tell_npm(lease, before);
  }
  co_return report;
}

}  // namespace belljar::tools
