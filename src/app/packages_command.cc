#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands.h"
#include "app/dependency_words.h"
#include "app/wiring.h"
#include "base/bytes.h"
#include "base/json.h"
#include "packages/owner_stores.h"
#include "serve/gatekeeper.h"
#include "tools/npm_rebuild.h"
#include "tools/sandbox_options.h"

namespace belljar::app {

namespace {

using packages::LayerInfo;
using packages::LayerStore;
using packages::LayerSummary;

constexpr size_t kShownKey = 12;

void show_progress(std::string_view message) {
  fmt::print(stderr, "belljar: {}\n", message);
}

std::string time_text(std::time_t time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time));
}

std::string words_of(const LayerInfo& info) {
  std::vector<std::string> words;
  for (const packages::Dependency& one : info.dependencies)
    words.push_back(one.name + "@" + one.version);
  return fmt::format("{}", fmt::join(words, " "));
}

json::object to_json(const LayerSummary& layer) {
  json::object dependencies;
  for (const packages::Dependency& one : layer.info.dependencies)
    dependencies[one.name] = one.version;
  return json::object{{"key", layer.info.key},
                      {"dependencies", std::move(dependencies)},
                      {"node", layer.info.target.node_major},
                      {"packages", layer.info.package_count},
                      {"files", layer.info.files},
                      {"bytes", layer.info.bytes},
                      {"resolved", time_text(layer.info.resolved_at)},
                      {"lastUsed", time_text(layer.last_used)},
                      {"inUse", layer.in_use}};
}

Task<int> list(LayerStore& layers, bool json) {
  const std::vector<LayerSummary> all = co_await layers.list();
  const packages::StoreUsage usage = co_await layers.usage();
  if (json) {
    json::array list;
    for (const LayerSummary& layer : all) list.push_back(to_json(layer));
    const json::object result{{"sets", std::move(list)}, {"diskBytes", usage.disk_bytes}};
    fmt::print("{}\n", json::serialize(result));
    co_return 0;
  }
  if (all.empty()) {
    fmt::print(
        "No packages are kept yet. Runs with dependencies keep them; `belljar packages add "
        "lodash` does it now.\n");
    co_return 0;
  }
  fmt::print("{:<14}{:<6}{:>9}  {:<22}{}\n", "SET", "NODE", "PACKAGES", "LAST USED",
             "DEPENDENCIES");
  for (const LayerSummary& layer : all) {
    fmt::print("{:<14}{:<6}{:>9}  {:<22}{}\n", layer.info.key.substr(0, kShownKey),
               layer.info.target.node_major, layer.info.package_count, time_text(layer.last_used),
               words_of(layer.info));
  }
  fmt::print("{} sets, {} on the disk\n", all.size(), format_bytes(usage.disk_bytes));
  co_return 0;
}

// The whole key of what a person typed. Error{not_found} if no set begins so, or several do.
Task<std::string> find_key(LayerStore& layers, std::string beginning) {
  std::vector<std::string> found;
  for (const LayerSummary& layer : co_await layers.list())
    if (layer.info.key.starts_with(beginning)) found.push_back(layer.info.key);
  if (found.size() == 1) co_return found.front();
  fail(Code::not_found, "{} \"{}\"; `belljar packages list` shows them",
       found.empty() ? "there is no set" : "several sets begin with", beginning);
}

Task<int> remove(LayerStore& layers, std::vector<std::string> keys) {
  for (std::string& word : keys) {
    const std::string key = co_await find_key(layers, std::move(word));
    co_await layers.remove(key);
    fmt::print("{} was removed\n", key.substr(0, kShownKey));
  }
  co_return 0;
}

Task<int> verify(LayerStore& layers, std::vector<std::string> keys) {
  if (keys.empty()) {
    for (const LayerSummary& layer : co_await layers.list()) keys.push_back(layer.info.key);
  }
  int status = 0;
  for (std::string& word : keys) {
    const std::string key = co_await find_key(layers, std::move(word));
    const auto damage = co_await layers.verify(key);
    const bool is_sound = !damage || damage->empty();
    fmt::print("{} {}\n", key.substr(0, kShownKey),
               is_sound ? "is as it was installed"
                        : "is damaged, and will be built again when it is wanted: " + *damage);
    if (!is_sound) status = 1;
  }
  co_return status;
}

Task<int> prune(packages::PackageSets& sets, std::optional<uint64_t> disk) {
  const packages::PruneResult result = disk ? co_await sets.prune(*disk) : co_await sets.prune();
  fmt::print("{} sets and {} packages were removed; {} are left on the disk\n",
             result.removed_layers, result.removed_contents, format_bytes(result.after.disk_bytes));
  co_return 0;
}

Task<int> add(Wiring& wiring, const Config& config, std::vector<packages::Dependency> wanted) {
  const Image image = co_await wiring.resolve(config.tools.default_image, show_progress);
  SandboxSpec spec;
  spec.image = image;
  spec.limits = tools::usual_limits(config.tools, config.tools.default_image);
  const tools::Context context = wiring.context(config.tools);
  const tools::NpmContext npm{wiring.sandboxes(),
                              wiring.registry(),
                              wiring.clock(),
                              context.settings.downloads_dir,
                              "",
                              std::move(spec),
                              config.tools.install_timeout};
  packages::WantedSet set{std::move(wanted), nullptr, image.node_version};
  packages::InstallProgress progress = show_progress;
  packages::PackageSets::Npm own_npm = tools::npm_in_sandbox(npm);
  const packages::FoundSet found =
      co_await wiring.packages().get(std::move(set), std::move(own_npm), std::move(progress));
  for (const std::string& warning : found.warnings) show_progress(warning);
  if (!found.script_output.empty()) show_progress(found.script_output);
  fmt::print("{} {} for Node.js {}: {} packages, {}\n", found.layer->info->key.substr(0, kShownKey),
             found.cached ? "was there already" : "was installed",
             found.layer->info->target.node_major, found.layer->info->package_count,
             format_bytes(found.layer->info->bytes));
  co_return 0;
}

Task<int> act(Wiring& wiring, const Config& config, PackagesOptions options) {
  LayerStore& layers = wiring.packages().layers();
  switch (options.action) {
    case PackagesAction::list: return list(layers, options.json);
    case PackagesAction::add: return add(wiring, config, to_dependencies(options.words));
    case PackagesAction::remove: return remove(layers, std::move(options.words));
    case PackagesAction::prune: return prune(wiring.packages(), options.disk);
    case PackagesAction::verify: return verify(layers, std::move(options.words));
  }
  fail(Code::internal, "there is no such action");
}

// The key of an owner whom somebody typed. Names of tokens have no colon.
std::string owner_key(const std::string& typed) {
  constexpr std::string_view kSubject = "oauth:";
  return typed.starts_with(kSubject) ? serve::owner_of_subject(typed.substr(kSubject.size())).owner
                                     : serve::named_owner(typed).owner;
}

// To list or clean what is not there is more likely a slip than meant.
void check_owner(const Foundation& foundation, const Config& config,
                 const PackagesOptions& options) {
  const packages::OwnerStores stores{foundation.data_dir + "/" + config.packages_directory()};
  if (options.action == PackagesAction::add || stores.contains(config.packages_owner)) return;
  fail(Code::not_found,
       "no packages are kept for the owner \"{}\" of `belljar serve`; it is the name of a token, "
       "or oauth:SUBJECT, and packages-per-owner must be set",
       options.owner);
}

}  // namespace

int packages_command(const LoadedConfig& loaded, const PackagesOptions& options) {
  auto foundation = lay_foundation(loaded.config, LocalSocket::no);
  Config config = loaded.config;
  if (!options.owner.empty()) {
    config.packages_owner = owner_key(options.owner);
    check_owner(foundation, config, options);
  }
  config.spare_sandboxes = 0;  // there is no next call
  config.node_start = NodeStart::exec;
  std::function<Task<int>(Wiring&)> work = [&config, &options](Wiring& wiring) {
    return act(wiring, config, options);
  };
  return run_to_end([&config, &work, &foundation](const asio::any_io_executor&) {
    return with_wiring(config, std::move(foundation), std::move(work));
  });
}

}  // namespace belljar::app
