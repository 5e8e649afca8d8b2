#include "packages/layer_builder.h"

#include "base/sha256.h"
#include "packages/layer_base.h"
#include "packages/layer_plan.h"
#include "packages/layer_tree.h"
#include "packages/store_files.h"

namespace belljar::packages {
namespace {

std::string hash_of(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.finish();
}

LayerInfo describe(const std::string& key, const LayerRecipe& recipe, const LayerPlan& plan) {
  LayerInfo info;
  info.key = key;
  info.target = recipe.target;
  info.dependencies = recipe.dependencies;
  info.resolved_at = recipe.resolved_at;
  info.packages = plan.packages;
  info.package_count = plan.package_count;
  info.files = plan.files.size();
  for (const LayerPlan::File& file : plan.files) info.bytes += file.file.size;
  return info;
}

// Has `info` say what is written.
void write_layer(const StoreDirectory& store, const std::string& directory,
                 const LayerRecipe& recipe, const LayerBase& base, LayerInfo& info) {
  info.base = base.id;
  info.base_disk_bytes = base.disk_bytes;
  info.own_files = base.rest.files.size() + base.rest.links.size();
  // Without a base there is always something to be mounted, even if it is empty.
  if (base.id.empty() || info.own_files > 0) {
    make_directory(directory + "/node_modules");
    info.own_disk_bytes = write_tree(store, base.rest, directory + "/node_modules");
  }
  const std::string list = base.rest.manifest().serialize();
  const std::string lockfile = recipe.lockfile.serialize();
  info.file_list_sha256 = hash_of(list);
  info.lockfile_sha256 = hash_of(lockfile);
  info.own_disk_bytes += in_blocks(list.size()) + in_blocks(lockfile.size());
  write_new_file(directory + "/file-list", list);
  write_new_file(directory + "/package-lock.json", lockfile);
  write_new_file(directory + "/manifest.json", info.serialize());
}

}  // namespace

BuiltLayer build_layer(const StoreDirectory& store, const std::string& directory,
                       const std::string& key, const LayerRecipe& recipe) {
  LayerPlan plan = plan_layer(store, recipe);
  LayerInfo info = describe(key, recipe, plan);
  const LayerBase base = find_base(store, std::move(plan));
  write_layer(store, directory, recipe, base, info);
  return {std::move(info), base.is_new};
}

BuiltLayer build_layer_alone(const StoreDirectory& store, const std::string& directory,
                             const std::string& key, const LayerRecipe& recipe, LayerPlan plan) {
  LayerInfo info = describe(key, recipe, plan);
  const LayerBase none{"", 0, false, std::move(plan)};
  write_layer(store, directory, recipe, none, info);
  return {std::move(info), false};
}

}  // namespace belljar::packages
