#include "packages/types.h"

#include <memory>

#include "base/bytes.h"
#include "base/error.h"
#include "base/task_group.h"
#include "packages/declarations.h"
#include "packages/parallel.h"
#include "packages/search.h"

namespace belljar::packages {
namespace {

constexpr uint64_t kLargestTarball = 64u << 20;
constexpr uint64_t kLargestUnpacked = 1u << 30;

std::string read_declarations(int tarball, size_t text_limit) {
  UnpackOptions options;
  options.max_bytes = kLargestUnpacked;
  options.wanted = is_about_types;
  ReadLimits limits;
  limits.file = std::max<uint64_t>(limits.file, text_limit);
  const PackageFiles files = read_tarball(tarball, options, limits);
  const std::string entry = find_declarations(files);
  return entry.empty() ? "" : collect_declarations(files, entry, text_limit);
}

// The declarations that a version of a package brings along; "" if it has none.
Task<std::string> declarations_of(Registry& registry, PackageVersion version,
                                  const TypesOptions& options) {
  const size_t text_limit = options.text_limit;
  const std::string what = version.name + " " + to_string(version.version);
  DownloadProgress check_size = [what](uint64_t received, uint64_t total) {
    if (std::max(received, total) > kLargestTarball)
      fail(Code::exhausted, "{} is larger than {}", what, format_bytes(kLargestTarball));
  };
  Fd file =
      co_await registry.download(std::move(version), options.downloads, std::move(check_size));
  auto shared = std::make_shared<Fd>(std::move(file));
  auto read = [shared, text_limit] { return read_declarations(shared->get(), text_limit); };
  try {
    co_return co_await run_blocking(std::move(read));
  } catch (const Error& error) {
    fail(error.code(), "{}: {}", what, error.what());
  }
}

// DefinitelyTyped follows the major and minor numbers of what it describes.
const PackageVersion* fitting_version(const PackageDocument& document, const Version& of) {
  const PackageVersion* best = nullptr;
  for (const PackageVersion& one : document.versions)
    if (one.version.major == of.major && one.version.minor == of.minor &&
        !one.version.is_prerelease())
      best = &one;
  return best != nullptr ? best : document.select("latest");
}

// Nothing if there is no such package, or none that we may see.
Task<std::optional<PackageDocument>> document_if_any(Registry& registry, std::string package) {
  try {
    co_return co_await registry.document(std::move(package));
  } catch (const Error& error) {
    if (error.code() != Code::not_found && error.code() != Code::denied) throw;
  }
  co_return std::nullopt;
}

Task<> look_in_types_package(Registry& registry, PackageTypes& result, const Version& version,
                             const TypesOptions& options) {
  const std::string package = types_package_of(result.name);
  // The name of a private package is nobody else's business.
  if (package.empty() || !co_await registry.same_registry(result.name, package)) co_return;
  const auto document = co_await document_if_any(registry, package);
  const PackageVersion* chosen = document ? fitting_version(*document, version) : nullptr;
  if (chosen == nullptr) co_return;
  result.types = co_await declarations_of(registry, *chosen, options);
  if (result.has_types()) result.types_package = package + "@" + to_string(chosen->version);
}

Task<> find_one(Registry& registry, const std::string& spec, PackageTypes& result,
                const TypesOptions& options) {
  const PackageDocument document = co_await registry.document(result.name);
  if (document.versions.empty())
    fail(Code::not_found, "the registry has no version of the package {}", result.name);
  const PackageVersion* chosen = document.select(spec);
  if (chosen == nullptr) {
    const PackageVersion* latest = document.select("latest");
    fail(Code::invalid, "the package {} has no version that fits \"{}\"{}", result.name, spec,
         latest != nullptr ? "; the latest is " + to_string(latest->version) : "");
  }
  result.version = to_string(chosen->version);
  result.types = co_await declarations_of(registry, *chosen, options);
  if (!result.has_types())
    co_await look_in_types_package(registry, result, chosen->version, options);
}

Task<> suggest_names(Registry& registry, PackageTypes& result) {
  const auto names = co_await near_names(registry, result.name);
  for (const std::string& name : names)
    result.error += (&name == &names.front() ? ". Did you mean " : " or ") + name;
  if (!names.empty()) result.error += "?";
}

Task<> find_or_explain(Registry& registry, Dependency dependency, TypesOptions options,
                       PackageTypes& result) {
  result.name = dependency.name;
  const std::string spec = dependency.version.empty() ? "latest" : dependency.version;
  bool unknown = false;
  try {
    const bool in_time =
        co_await with_timeout(options.time_limit, find_one(registry, spec, result, options));
    if (!in_time)
      result.error = fmt::format("not finished after {} ms", options.time_limit.count());
  } catch (const std::exception& error) {
    if (is_cancellation(std::current_exception())) throw;
    result.error = error.what();
    const auto* known = dynamic_cast<const Error*>(&error);
    unknown = known != nullptr && known->code() == Code::not_found && result.version.empty();
  }
  if (unknown) co_await suggest_names(registry, result);
}

}  // namespace

Task<std::vector<PackageTypes>> find_types(Registry& registry, std::vector<Dependency> dependencies,
                                           TypesOptions options) {
  std::vector<PackageTypes> results(dependencies.size());
  std::function<Task<>(size_t)> work = [&registry, &dependencies, &options, &results](size_t i) {
    return find_or_explain(registry, dependencies[i], options, results[i]);
  };
  co_await in_parallel(dependencies.size(), std::move(work));
  co_return results;
}

std::string types_package_of(std::string_view package) {
  if (package.starts_with("@types/")) return "";
  std::string name{package.substr(package.starts_with('@') ? 1 : 0)};
  if (const size_t slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "__");
  return "@types/" + name;
}

}  // namespace belljar::packages
