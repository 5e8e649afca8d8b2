#include "packages/layer_store.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/log.h"
#include "base/posix.h"
#include "packages/beneath.h"
#include "packages/layer_base.h"
#include "packages/layer_directory.h"
#include "packages/parallel.h"
#include "packages/scripted_layer.h"
#include "packages/store_files.h"
#include "packages/verify.h"

namespace belljar::packages {
namespace {

constexpr std::string_view kContents = "contents";  // the lock: shared while a layer is made

void check_key(const std::string& key) {
  if (!is_layer_key(key)) fail(Code::invalid, "that is not the key of a layer");
}

// Deletes the file of a lock that is held.
struct ForgottenLock {
  ~ForgottenLock() { directory.forget_lock(name); }
  const StoreDirectory& directory;
  const std::string& name;
};

struct Built {
  BuiltLayer layer;
  std::string lockfile;
  uint64_t inode = 0;  // 0 if another process was quicker with the same
};

Fd open_node_modules(int directory) {
  return Fd{sys(open_beneath(directory, "node_modules", O_PATH | O_DIRECTORY),
                "open the node_modules of a layer")};
}

// The inode of a layer that is to make room: 0 if there is none, or it is what we have, too.
uint64_t find_outdated(const StoreDirectory& store, const std::string& key,
                       const std::string& lockfile) {
  const Fd there = open_layer_directory(store, key);
  if (!there) return 0;
  try {
    if (read_layer(there.get(), key).lockfile == lockfile) return 0;
  } catch (const Error& error) {
    log::warning("the layer {} is damaged and will be made again: {}", key, error.what());
  }
  return inode_of(there.get());
}

// Blocks.
Built publish_layer(const StoreDirectory& store, BuiltLayer layer, const LayerRecipe& recipe,
                    Temporary& temporary) {
  Built built{std::move(layer), recipe.lockfile.serialize()};
  const std::string& key = built.layer.info.key;
  const uint64_t inode = inode_of(open_directory(temporary.path()).get());
  bool is_published = store.publish(temporary.path(), store.layer(key));
  if (!is_published) {
    if (const uint64_t outdated = find_outdated(store, key, built.lockfile)) {
      retire_layer(store, key, outdated);
      is_published = store.publish(temporary.path(), store.layer(key));
    }
  }
  if (!is_published) return built;
  temporary.keep();
  built.inode = inode;
  return built;
}

// Blocks.
Built build_and_publish(const StoreDirectory& store, const std::string& key,
                        const LayerRecipe& recipe) {
  Temporary temporary{store.make_temporary()};
  BuiltLayer layer = build_layer(store, temporary.path(), key, recipe);
  return publish_layer(store, std::move(layer), recipe, temporary);
}

Task<Built> build_with_scripts(const StoreDirectory& store, const std::string& key,
                               const LayerRecipe& recipe, ScriptPlan plan,
                               InstallProgress progress) {
  Temporary temporary{store.make_temporary()};
  BuiltLayer layer = co_await build_scripted_layer(store, temporary.path(), key, recipe,
                                                   std::move(plan), std::move(progress));
  auto publish = [&store, &layer, &recipe, &temporary] {
    return publish_layer(store, std::move(layer), recipe, temporary);
  };
  co_return co_await run_blocking(publish);
}

Task<Built> build(const StoreDirectory& store, const std::string& key, const LayerRecipe& recipe,
                  InstallProgress progress) {
  ScriptPlan plan;
  if (recipe.scripts.run && !recipe.scripts.allowed.empty()) {
    auto look = [&store, &recipe] { return plan_scripts(store, recipe); };
    plan = co_await run_blocking(look);
  }
  if (!plan.empty())
    co_return co_await build_with_scripts(store, key, recipe, std::move(plan), std::move(progress));
  auto build_plain = [&store, &key, &recipe] { return build_and_publish(store, key, recipe); };
  try {
    co_return co_await run_blocking(build_plain);
  } catch (const Error& error) {
    fail_storing(error, "make the layer", store.path());
  }
}

}  // namespace

LayerStore::LayerStore(StoreDirectory& directory, PackageStore& packages,
                       asio::any_io_executor executor)
    : directory_{directory}, packages_{packages}, work_{std::move(executor)} {}

// Null if the base is not the one that was read; otherwise the directory is the layer's.
std::shared_ptr<const Layer> LayerStore::use(const std::string& key, Fd& directory) const {
  const Known& known = known_.at(key);
  auto layer = std::make_shared<Layer>();
  if (!known.info->base.empty()) {
    layer->base_lock = open_base_directory(directory_, known.info->base);
    if (!layer->base_lock || inode_of(layer->base_lock.get()) != known.base_inode) return nullptr;
  }
  if (!layer->base_lock || known.info->own_files > 0)
    layer->directories.push_back(open_node_modules(directory.get()));
  if (layer->base_lock) layer->directories.push_back(open_node_modules(layer->base_lock.get()));
  layer->info = known.info;
  layer->lockfile = known.lockfile;
  touch_layer(directory.get());
  layer->lock = std::move(directory);
  return layer;
}

Task<std::shared_ptr<const Layer>> LayerStore::open(std::string key) {
  check_key(key);
  for (int tries = 0; tries < 2; ++tries) {
    Fd directory = open_layer_directory(directory_, key);
    if (!directory) co_return nullptr;
    const auto known = known_.find(key);
    if (known != known_.end() && known->second.inode == inode_of(directory.get()))
      if (auto layer = use(key, directory)) co_return layer;
    directory.reset();  // a damaged one is deleted when nobody has it
    const SharedWork::Work work = [this, key](const InstallProgress&) {
      return examine_quietly(key);
    };
    const InstallProgress silent;
    co_await work_.join("verify " + key, work, silent);
  }
  co_return nullptr;
}

Task<> LayerStore::examine_quietly(std::string key) {
  co_await examine(std::move(key));
}

void LayerStore::remember(const std::string& key, uint64_t inode, LayerInfo info,
                          std::string lockfile) {
  const auto base = sound_bases_.find(info.base);
  const uint64_t base_inode = base == sound_bases_.end() ? 0 : base->second;
  Known known{inode, base_inode, std::make_shared<const LayerInfo>(std::move(info)),
              std::make_shared<const std::string>(std::move(lockfile))};
  known_.insert_or_assign(key, std::move(known));
}

Task<std::string> LayerStore::examine(std::string key) {
  Fd directory = open_layer_directory(directory_, key);
  if (!directory) co_return "";
  const uint64_t inode = inode_of(directory.get());
  LayerFiles layer;
  std::string damage = co_await find_damage_in(directory.get(), key, layer);
  if (damage.empty()) {
    remember(key, inode, std::move(layer.info), std::move(layer.lockfile));
    co_return damage;
  }
  log::warning("the layer {} is damaged and will be made again: {}", key, damage);
  known_.erase(key);
  // The files are links to those of the store.
  for (const LayerInfo::Package& package : layer.info.packages) packages_.distrust(package.content);
  directory_.prepare();
  directory.reset();
  auto retire = [this, &key, inode] { retire_layer(directory_, key, inode); };
  co_await run_blocking(retire);
  co_return damage;
}

Task<std::string> LayerStore::find_damage_in(int directory, const std::string& key,
                                             LayerFiles& layer) {
  std::string damage;
  auto read = [directory, &key] { return read_layer(directory, key); };
  try {
    layer = co_await run_blocking(read);
    const LayerInfo& info = layer.info;
    if (info.base.empty() || info.own_files > 0) {
      const Fd tree = open_node_modules(directory);
      damage = co_await find_damage(layer.files, tree.get());
    }
    if (damage.empty() && !info.base.empty() && !is_sound_base(info.base))
      damage = co_await examine_base(info.base);
  } catch (const Error& error) {
    damage = error.what();
  }
  co_return damage;
}

bool LayerStore::is_sound_base(const std::string& id) const {
  const auto known = sound_bases_.find(id);
  if (known == sound_bases_.end()) return false;
  const Fd directory = open_base_directory(directory_, id);
  return directory && inode_of(directory.get()) == known->second;
}

Task<std::string> LayerStore::examine_base(std::string id) {
  const Fd directory = open_base_directory(directory_, id);
  if (!directory) co_return "the tree that it is built upon is gone";
  sound_bases_.erase(id);
  std::string damage;
  auto read = [&directory, &id] { return read_base(directory.get(), id); };
  try {
    const TreeManifest files = co_await run_blocking(read);
    const Fd tree = open_node_modules(directory.get());
    damage = co_await find_damage(files, tree.get());
  } catch (const Error& error) {
    damage = error.what();
  }
  if (damage.empty()) sound_bases_[id] = inode_of(directory.get());
  if (!damage.empty()) retire_base(directory_, id);
  co_return damage;
}

Task<std::shared_ptr<const Layer>> LayerStore::ensure(std::string key, Resolve resolve,
                                                      InstallProgress progress,
                                                      int64_t not_before) {
  // It may be damaged or removed between being made and being opened; not for ever.
  for (int tries = 0; tries < 3; ++tries) {
    auto layer = co_await open(key);
    if (layer && (tries > 0 || layer->info->resolved_at >= not_before)) co_return layer;
    layer.reset();
    const SharedWork::Work work = [this, key, resolve, not_before](const InstallProgress& all) {
      return install(key, resolve, not_before, all);
    };
    co_await work_.join(key, work, progress);
  }
  fail(Code::unavailable, "the layer {} disappears as soon as it is made", key);
}

Task<> LayerStore::install(std::string key, Resolve resolve, int64_t not_before,
                           const InstallProgress& progress) {
  directory_.prepare();
  const std::string name = "install-" + key;
  const Fd lock = co_await wait_for_lock(name, StoreDirectory::Lock::exclusive, progress);
  const ForgottenLock forgotten{directory_, name};
  auto there = co_await open(key);  // another process may have made it meanwhile
  if (there && there->info->resolved_at >= not_before) co_return;
  there.reset();
  LayerRecipe recipe = co_await resolve(progress);
  co_await make(key, std::move(recipe), progress);
}

Task<> LayerStore::make(std::string key, LayerRecipe recipe, InstallProgress progress) {
  check_key(key);
  directory_.prepare();
  co_await clean_once();
  if (co_await renew(key, recipe)) co_return;
  const std::string contents{kContents};
  const Fd lock = co_await wait_for_lock(contents, StoreDirectory::Lock::shared, progress);
  co_await fetch_all(recipe, progress);
  if (progress) progress(fmt::format("linking {} packages", recipe.lockfile.packages.size()));
  Built built = co_await build(directory_, key, recipe, progress);
  LayerInfo& info = built.layer.info;
  if (built.layer.is_base_new) {
    const Fd base = open_base_directory(directory_, info.base);
    if (base) sound_bases_[info.base] = inode_of(base.get());
  }
  // Every file of it was read or written by this process. Otherwise open() will read it.
  if (built.inode != 0 && (info.base.empty() || is_sound_base(info.base)))
    remember(key, built.inode, std::move(info), std::move(built.lockfile));
}

// If this lockfile is what the layer has: true, and the layer was resolved now.
Task<bool> LayerStore::renew(const std::string& key, const LayerRecipe& recipe) {
  const auto there = co_await open(key);
  if (!there || *there->lockfile != recipe.lockfile.serialize()) co_return false;
  LayerInfo info = *there->info;
  info.resolved_at = recipe.resolved_at;
  auto replace = [this, &key, text = info.serialize()] {
    const Temporary temporary{directory_.make_temporary()};
    const std::string fresh = temporary.path() + "/manifest.json";
    const std::string old = directory_.layer(key) + "/manifest.json";
    write_new_file(fresh, text);
    sys(::rename(fresh.c_str(), old.c_str()), "replace {}", old);
  };
  co_await run_blocking(replace);
  known_.at(key).info = std::make_shared<const LayerInfo>(std::move(info));
  co_return true;
}

Task<> LayerStore::fetch_all(const LayerRecipe& recipe, const InstallProgress& progress) {
  std::vector<LockedPackage> wanted;
  std::set<std::string> ids;
  for (const LockedPackage* package : wanted_packages(recipe.lockfile, recipe.target.platform)) {
    if (package->in_bundle || !ids.insert(PackageStore::id_of(package->integrity)).second) continue;
    wanted.push_back(*package);
  }
  const std::vector<std::string> all{ids.begin(), ids.end()};
  std::function<Task<>(size_t)> check = [this, &all](size_t i) { return check_one(all[i]); };
  // What is damaged is taken out of the store, and fetched in the second round.
  for (int round = 0; round < 2; ++round) {
    co_await packages_.fetch(wanted, progress);
    co_await in_parallel(all.size(), check);
  }
}

Task<> LayerStore::check_one(std::string id) {
  co_await packages_.check(std::move(id));
}

Task<Fd> LayerStore::wait_for_lock(std::string name, StoreDirectory::Lock how,
                                   const InstallProgress& progress) {
  // The kernel has no way to wait for a lock that can be called off, so ask again and again.
  for (bool told = false;; told = true) {
    if (auto lock = directory_.try_lock(name, how)) co_return std::move(*lock);
    if (!told && progress) progress("waiting for another process that installs packages");
    co_await sleep_for(milliseconds{20});
  }
}

Task<> LayerStore::clean_once() {
  if (is_clean_) co_return;
  is_clean_ = true;
  auto clean = [this] {
    directory_.clean();
    delete_retired(directory_);
  };
  co_await run_blocking(clean);
}

Task<std::optional<std::string>> LayerStore::verify(std::string key) {
  check_key(key);
  if (!open_layer_directory(directory_, key)) co_return std::nullopt;
  sound_bases_.clear();
  co_return co_await examine(key);
}

Task<std::vector<LayerSummary>> LayerStore::list() {
  auto read = [this] { return list_layers(directory_); };
  co_return co_await run_blocking(read);
}

Task<StoreUsage> LayerStore::usage() {
  const std::vector<LayerSummary> layers = co_await list();
  co_return usage_of(layers);
}

Task<bool> LayerStore::remove(std::string key) {
  check_key(key);
  directory_.prepare();
  auto remove = [this, &key] { return remove_layer(directory_, key); };
  const Removal removal = co_await run_blocking(remove);
  if (removal == Removal::in_use)
    fail(Code::denied, "the layer {} is in use; stop the sandboxes that use it first", key);
  if (removal == Removal::removed) known_.erase(key);
  co_return removal == Removal::removed;
}

Task<PruneResult> LayerStore::prune(uint64_t max_disk_bytes) {
  directory_.prepare();
  co_await clean_once();
  auto prune = [this, max_disk_bytes] {
    PruneResult result;
    std::vector<LayerSummary> layers = list_layers(directory_);
    result.before = usage_of(layers);
    for (size_t i = layers.size(); i-- > 0;) {
      if (usage_of(layers).disk_bytes <= max_disk_bytes) break;
      if (remove_layer(directory_, layers[i].info.key) != Removal::removed) continue;
      layers.erase(layers.begin() + static_cast<std::ptrdiff_t>(i));
      ++result.removed_layers;
    }
    delete_retired(directory_);
    delete_unreadable(directory_);
    if (const auto lock = directory_.try_lock(kContents, StoreDirectory::Lock::exclusive))
      result.removed_contents = delete_unused_contents(directory_);
    result.after = usage_of(layers);
    return result;
  };
  co_return co_await run_blocking(prune);
}

Task<> LayerStore::stop() {
  co_await work_.stop();
}

}  // namespace belljar::packages
