#include "packages/package_sets.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/id.h"
#include "base/log.h"
#include "base/posix.h"
#include "base/sha256.h"

namespace belljar::packages {

namespace {

constexpr milliseconds kNearNamesTimeout{3000};
constexpr std::chrono::hours kScrubPause{1};
constexpr size_t kLargestLockfile = 16u << 20;

int64_t seconds_since_1970(Clock::WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

LayerTarget target_of(const WantedSet& wanted) {
  LayerTarget target;
  target.platform = Platform::of_this_machine();
  target.platform.libc = wanted.libc;
  const std::string_view text{wanted.node_version};
  std::from_chars(text.data(), text.data() + text.size(), target.node_major);
  return target;
}

std::string sha256_of(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.finish();
}

// Has the lockfile of a layer, which this process has read, under another name as well. Nothing is
// flushed: read_lockfile() looks at the hash. False if the file system has no links.
bool link_lockfile(int layer, const std::string& path) {
  const std::string temporary = path + "." + random_hex(8);
  if (::linkat(layer, "package-lock.json", AT_FDCWD, temporary.c_str(), 0) != 0) return false;
  ::utimensat(AT_FDCWD, temporary.c_str(), nullptr, 0);  // what is old is forgotten
  const bool is_there = ::rename(temporary.c_str(), path.c_str()) == 0;
  ::unlink(temporary.c_str());  // it stays if both were the same file
  return is_there;
}

}  // namespace

PackageSets::PackageSets(asio::any_io_executor executor, Registry& registry, const Clock& clock,
                         const std::string& directory, PackageRules rules, NearNames near_names)
    : registry_{registry},
      clock_{clock},
      path_{directory},
      rules_{std::move(rules)},
      near_names_{std::move(near_names)},
      documents_{registry, clock, directory + "/documents",
                 KeptDocuments::Rules{rules_.max_age, rules_.offline}},
      directory_{directory},
      packages_{directory_, registry, executor},
      layers_{directory_, packages_, executor},
      tasks_{executor} {}

// What is to be told about an installation.
struct PackageSets::Notes {
  std::vector<std::string> warnings;
  std::shared_ptr<ScriptReport> scripts = std::make_shared<ScriptReport>();

  void add_to(FoundSet& found) const {
    found.warnings = warnings;
    found.script_output = scripts->output;
    if (!scripts->failed.empty())
      found.warnings.push_back(
          fmt::format("optional packages were left out because their install scripts failed: {}",
                      fmt::join(scripts->failed, ", ")));
    if (!scripts->left_out.empty())
      found.warnings.push_back("of what install scripts made this was left out: " +
                               fmt::format("{}", fmt::join(scripts->left_out, "; ")));
  }
};

// Whatever could make the same dependencies mean something else is part of it.
std::string PackageSets::key_of_set(const WantedSet& wanted, const LayerTarget& target) {
  const std::vector<std::string>& allowed = rules_.allow_scripts;
  std::set<std::string> scripts{allowed.begin(), allowed.end()};
  Sha256 hash;
  if (wanted.lockfile) {
    std::set<std::string> named;
    for (const LockedPackage& package : wanted.lockfile->packages) named.insert(package.name);
    std::erase_if(scripts, [&named](const std::string& name) { return !named.contains(name); });
    std::string key = key_of(*wanted.lockfile, target);
    if (scripts.empty()) return key;
    hash.add(key);
  } else {
    hash.add(key_of(wanted.dependencies, target));
    hash.add("\n" + registry_.fingerprint());
    hash.add(fmt::format("\n{}\n{}", rules_.min_age.count(), fmt::join(rules_.denied, ",")));
  }
  if (!scripts.empty()) hash.add(fmt::format("\nscripts {}", fmt::join(scripts, ",")));
  if (!scripts.empty() && !wanted.image.empty()) hash.add("\nimage " + wanted.image);
  return hash.finish();
}

Task<FoundSet> PackageSets::get(WantedSet wanted, Npm npm, InstallProgress progress) {
  const LayerTarget target = target_of(wanted);
  if (wanted.lockfile) check_denied(*wanted.lockfile);
  const std::string key = key_of_set(wanted, target);
  const int64_t oldest = wanted.lockfile || rules_.offline
                             ? 0
                             : seconds_since_1970(clock_.wall() - rules_.max_age) + 1;
  FoundSet found;
  found.layer = co_await layers_.open(key);
  if (found.layer && found.layer->info->resolved_at >= oldest) {
    found.cached = true;
    co_return found;
  }
  const auto notes = std::make_shared<Notes>();
  LayerStore::Resolve resolve_it = [this, wanted = std::move(wanted), target, npm = std::move(npm),
                                    notes](const InstallProgress& tell) {
    return find_recipe(wanted, target, npm, tell, notes);
  };
  std::string trouble;
  try {
    found.layer = co_await layers_.ensure(key, std::move(resolve_it), std::move(progress), oldest);
    co_await keep_lockfile(*found.layer);
    tasks_.spawn("tidy packages", tidy());
  } catch (const Error& e) {
    // What was right yesterday is better than nothing.
    if (!found.layer || e.code() != Code::unavailable) throw;
    trouble = e.what();
  }
  notes->add_to(found);
  if (!trouble.empty()) {
    found.cached = true;
    found.warnings.push_back(
        "these are the versions of the last installation, because newer ones "
        "cannot be looked for: " +
        trouble);
  }
  co_return found;
}

Task<LayerRecipe> PackageSets::find_recipe(WantedSet wanted, LayerTarget target, Npm npm,
                                           InstallProgress progress, std::shared_ptr<Notes> notes) {
  LayerRecipe recipe;
  recipe.target = target;
  recipe.resolved_at = seconds_since_1970(clock_.wall());
  recipe.scripts = ScriptRules{rules_.allow_scripts, npm.run_scripts, notes->scripts};
  if (wanted.lockfile) {
    recipe.lockfile = *wanted.lockfile;
    recipe.dependencies = wanted.lockfile->dependencies;
  } else {
    recipe.lockfile = co_await resolve_set(wanted, target, npm, progress, notes->warnings);
    recipe.dependencies = wanted.dependencies;
    check_denied(recipe.lockfile);
  }
  if (rules_.offline) check_all_kept(recipe);
  const std::vector<std::string> idle = without_scripts(recipe);
  if (!idle.empty())
    notes->warnings.push_back(fmt::format(
        "the install script{0} of {1} did not run; if what it makes is missed, the operator can "
        "allow it: packages-allow-scripts={2}",
        idle.size() == 1 ? "" : "s", fmt::join(idle, ", "), fmt::join(idle, ",")));
  co_return recipe;
}

// Packages that have install scripts, by what the registry says, which nobody has allowed.
std::vector<std::string> PackageSets::without_scripts(const LayerRecipe& recipe) const {
  std::set<std::string> names;
  for (const LockedPackage* package : wanted_packages(recipe.lockfile, recipe.target.platform))
    if (package->has_install_script) names.insert(package->name);
  for (const std::string& name : rules_.allow_scripts) names.erase(name);
  return {names.begin(), names.end()};
}

Task<Lockfile> PackageSets::resolve_set(const WantedSet& wanted, const LayerTarget& target,
                                        const Npm& npm, const InstallProgress& progress,
                                        std::vector<std::string>& warnings) {
  ResolveRequest request;
  request.dependencies = wanted.dependencies;
  request.node_version = wanted.node_version;
  request.platform = target.platform;
  request.denied = {rules_.denied.begin(), rules_.denied.end()};
  const bool has_min_age = rules_.min_age.count() > 0;
  if (has_min_age) request.published_before = clock_.wall() - rules_.min_age;
  request.documents = [this](const std::string& name) { return document(name); };
  Resolution resolution = co_await resolve(std::move(request));
  warnings = std::move(resolution.warnings);
  if (resolution.lockfile) co_return std::move(*resolution.lockfile);
  log::debug("npm is to resolve {} dependencies: {}", wanted.dependencies.size(),
             resolution.not_sure);
  if (rules_.offline)
    fail(Code::unavailable,
         "what these dependencies mean can only be found out by npm, which needs a registry, and "
         "belljar is offline ({})",
         resolution.not_sure);
  if (has_min_age)
    fail(Code::unavailable,
         "these dependencies cannot be resolved under packages-min-age: only npm could ({})",
         resolution.not_sure);
  InstallProgress tell = progress;
  co_return co_await npm.resolve(wanted, std::move(tell));
}

Task<std::shared_ptr<const Document>> PackageSets::document(std::string name) {
  const auto detail =
      rules_.min_age.count() > 0 ? DocumentDetail::full : DocumentDetail::abbreviated;
  const auto waiting = waiting_.insert(name);
  auto result = co_await settle(get_document(documents_, connections_, detail, name));
  waiting_.erase(waiting);
  if (!result.error) co_return std::move(*result.value);
  bool is_missing = false;
  try {
    std::rethrow_exception(result.error);
  } catch (const Error& e) {
    if (e.code() != Code::not_found) throw;
    is_missing = true;
  }
  if (is_missing) fail(Code::not_found, "{}", co_await describe_missing(std::move(name)));
  co_return nullptr;
}

Task<std::string> PackageSets::describe_missing(std::string name) {
  std::vector<std::string> near;
  if (near_names_) {
    try {
      auto found = co_await with_timeout(kNearNamesTimeout, near_names_(name));
      if (found) near = std::move(*found);
    } catch (const Error& e) {
      log::debug("no advice about {}: {}", name, e.what());  // the complaint is worth more
    }
  }
  co_return fmt::format(
      "no package \"{}\" in the registry; {}", name,
      near.empty() ? "check its spelling" : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

void PackageSets::check_denied(const Lockfile& lockfile) const {
  for (const LockedPackage& package : lockfile.packages) {
    const auto& denied = rules_.denied;
    if (std::find(denied.begin(), denied.end(), package.name) == denied.end()) continue;
    fail(Code::denied,
         "the operator does not allow the package {}, which would be at {}; use another one",
         package.name, package.path);
  }
}

void PackageSets::check_all_kept(const LayerRecipe& recipe) const {
  std::vector<LockedPackage> needed;
  for (const LockedPackage* package : wanted_packages(recipe.lockfile, recipe.target.platform))
    needed.push_back(*package);
  const std::vector<LockedPackage> missing = packages_.missing(needed);
  if (missing.empty()) return;
  fail(Code::unavailable,
       "{} {}{} not kept here, and belljar is offline: it asks no registry. Start it once without "
       "`offline` and use {}, or `belljar packages add {}`",
       missing.front().name, missing.front().version,
       missing.size() == 1 ? " is" : fmt::format(" and {} other packages are", missing.size() - 1),
       missing.size() == 1 ? "it" : "them", missing.front().name);
}

// For whoever wants to have exactly this again when the layer has long been another.
Task<> PackageSets::keep_lockfile(const Layer& layer) {
  const std::string directory = path_ + "/lockfiles";
  const std::string path = directory + "/" + layer.info->lockfile_sha256;
  auto keep = [&directory, &path, &layer] {
    try {
      make_directories(directory, 0700);
      if (!link_lockfile(layer.lock.get(), path)) replace_file(path, *layer.lockfile, 0600);
    } catch (const Error& e) {
      log::debug("a lockfile is not kept: {}", e.what());
    }
  };
  co_await run_blocking(std::move(keep));
}

std::optional<std::string> PackageSets::read_lockfile(const std::string& sha256) const {
  try {
    std::string text = read_file(path_ + "/lockfiles/" + sha256, kLargestLockfile);
    if (sha256_of(text) == sha256) return text;
  } catch (const Error& e) {
    log::debug("no lockfile: {}", e.what());
  }
  return std::nullopt;
}

Task<std::optional<std::string>> PackageSets::lockfile(std::string sha256) {
  if (!is_layer_key(sha256)) co_return std::nullopt;  // they look the same
  auto read = [this, &sha256] { return read_lockfile(sha256); };
  std::optional<std::string> text = co_await run_blocking(std::move(read));
  if (text) co_return text;
  // Forgotten, but perhaps still in use.
  const std::vector<LayerSummary> all = co_await layers_.list();
  for (const LayerSummary& layer : all) {
    if (layer.info.lockfile_sha256 != sha256) continue;
    const auto open = co_await layers_.open(layer.info.key);
    if (open) co_return *open->lockfile;
  }
  co_return std::nullopt;
}

Task<> PackageSets::scrub() {
  for (;;) {
    co_await sleep_for(kScrubPause);
    co_await scrub_next();
  }
}

Task<> PackageSets::scrub_next() {
  std::vector<std::string> keys;
  for (const LayerSummary& layer : co_await layers_.list()) keys.push_back(layer.info.key);
  if (keys.empty()) co_return;
  std::sort(keys.begin(), keys.end());
  const auto next = std::upper_bound(keys.begin(), keys.end(), last_scrubbed_);
  last_scrubbed_ = next == keys.end() ? keys.front() : *next;
  co_await layers_.verify(last_scrubbed_);
}

Task<> PackageSets::tidy() {
  co_await prune();
}

Task<PruneResult> PackageSets::prune() {
  return prune(rules_.disk);
}

Task<PruneResult> PackageSets::prune(uint64_t disk) {
  PruneResult result = co_await layers_.prune(disk);
  auto forget = [path = path_, now = clock_.wall()] {
    KeptDocuments::prune(path + "/documents", now);
    KeptDocuments::prune(path + "/lockfiles", now);
  };
  co_await run_blocking(std::move(forget));
  co_return result;
}

Task<> PackageSets::stop() {
  co_await tasks_.stop();
  co_await layers_.stop();
  co_await packages_.stop();
}

}  // namespace belljar::packages
