#include "packages/scripted_layer.h"

#include <set>

#include "base/error.h"
#include "base/posix.h"
#include "packages/beneath.h"
#include "packages/layer_plan.h"
#include "packages/layer_tree.h"
#include "packages/platform.h"
#include "packages/store_files.h"
#include "packages/tree_changes.h"

namespace belljar::packages {
namespace {

constexpr std::string_view kHiddenLockfile = ".package-lock.json";

// A tree as it is without scripts, and where what they change is put. It is whole and in one
// directory, without a base: whether a file was touched is seen by comparing with what is there.
struct FirstTree {
  explicit FirstTree(const StoreDirectory& store)
      : place{store.make_temporary()}, changed{store.make_temporary()} {}

  Temporary place;
  Temporary changed;
  LayerPlan plan;
  std::shared_ptr<const std::vector<Fd>> directories;  // one
  Fd contents;

  int node_modules() const { return directories->front().get(); }
};

// npm's notes are ours to write, whatever scripts have put there.
bool is_notes(std::string_view path) {
  return path.substr(0, path.find('/')) == kHiddenLockfile;
}

void write_first(const StoreDirectory& store, const LayerRecipe& recipe, FirstTree& first) {
  first.plan = plan_layer(store, recipe);
  const std::string path = first.place.path() + "/node_modules";
  make_directory(path);
  write_tree(store, first.plan, path);
  std::vector<Fd> directories;
  directories.push_back(open_directory(path));
  first.directories = std::make_shared<const std::vector<Fd>>(std::move(directories));
  first.contents = open_directory_to_read(first.changed.path());
}

// The same work, whose errors say what to do if the disk is full.
template <class Work>
auto storing(const StoreDirectory& store, Work work) {
  return [&store, work = std::move(work)](auto... arguments) {
    try {
      return work(arguments...);
    } catch (const Error& error) {
      fail_storing(error, "make the layer", store.path());
    }
  };
}

// Directories of optional packages that npm removes because they, or what they need, could not be
// built: "a", "b/node_modules/c".
std::set<std::string, std::less<>> directories_to_remove(const LayerRecipe& recipe) {
  constexpr std::string_view kFolder = "node_modules/";
  std::set<std::string, std::less<>> paths;
  if (recipe.failed.empty()) return paths;
  const Lockfile& lockfile = recipe.lockfile;
  const Platform& platform = recipe.target.platform;
  for (const LockedPackage* package : wanted_packages(lockfile, platform))
    paths.insert(package->path.substr(kFolder.size()));
  for (const LockedPackage* package : wanted_packages(lockfile, platform, recipe.failed))
    paths.erase(package->path.substr(kFolder.size()));
  return paths;
}

LayerPlan plan_second(const StoreDirectory& store, const LayerRecipe& recipe,
                      const FirstTree& first, const TreeChanges& changes) {
  const std::set<std::string, std::less<>> removed = directories_to_remove(recipe);
  const auto is_kept = [&removed](std::string_view path) {
    if (is_notes(path)) return false;
    for (; !path.empty(); path = directory_of(path))
      if (removed.contains(path)) return false;
    return true;
  };
  const auto is_replaced = [&changes](const std::string& path) {
    return !is_notes(path) && changes.replaced.contains(path);
  };
  const LayerPlan before = removed.empty() ? first.plan : plan_layer(store, recipe);
  LayerPlan plan;
  plan.packages = before.packages;
  plan.package_count = before.package_count;
  for (size_t i = 0; i < changes.files.size(); ++i) {
    const UnpackedFile& file = changes.files[i];
    if (!is_kept(file.path)) continue;
    plan.files.push_back({file, LayerPlan::kMoved, first.changed.path() + "/" + std::to_string(i)});
  }
  for (const LayerPlan::File& file : before.files)
    if (!is_replaced(file.file.path)) plan.files.push_back(file);
  for (const TreeLink& link : before.links)
    if (!is_replaced(link.path)) plan.links.push_back(link);
  for (const TreeLink& link : changes.links)
    if (is_kept(link.path)) plan.links.push_back(link);
  return plan;
}

}  // namespace

Task<BuiltLayer> build_scripted_layer(const StoreDirectory& store, std::string directory,
                                      std::string key, LayerRecipe recipe, ScriptPlan plan,
                                      InstallProgress progress) {
  FirstTree first{store};
  auto write = storing(store, [&store, &recipe, &first] { write_first(store, recipe, first); });
  co_await run_blocking(write);

  TreeChanges changes;
  ScriptWork work;
  work.directories = first.directories;
  work.dependencies = recipe.dependencies;
  work.plan = std::move(plan);
  work.collect = storing(store, [&first, &changes](int tree) {
    changes = collect_changes(tree, first.node_modules(), first.plan.manifest(),
                              first.contents.get(), ChangeLimits{});
  });
  ScriptOutcome outcome = co_await recipe.scripts.run(std::move(work), std::move(progress));
  recipe.failed = std::move(outcome.failed);
  if (recipe.scripts.report)
    *recipe.scripts.report = {std::move(outcome.output), changes.left_out, recipe.failed};

  auto finish = storing(store, [&store, &directory, &key, &recipe, &first, &changes] {
    LayerPlan second = plan_second(store, recipe, first, changes);
    BuiltLayer layer = build_layer_alone(store, directory, key, recipe, std::move(second));
    remove_tree(first.place.path());
    remove_tree(first.changed.path());
    return layer;
  });
  co_return co_await run_blocking(finish);
}

}  // namespace belljar::packages
