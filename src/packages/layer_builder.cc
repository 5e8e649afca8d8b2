#include "packages/layer_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/posix.h"
#include "base/sha256.h"
#include "packages/layer_tree.h"
#include "packages/npm_json.h"
#include "packages/package_store.h"
#include "packages/store_files.h"

namespace belljar::packages {
namespace {

constexpr std::string_view kFolder = "node_modules/";

using Package = const LockedPackage*;
using Paths = std::set<std::string, std::less<>>;

std::string hash_of(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.finish();
}

class Builder {
 public:
  Builder(const StoreDirectory& store, const std::string& directory, const LayerRecipe& recipe)
      : store_{store},
        wanted_{wanted_packages(recipe.lockfile, recipe.target.platform)},
        tree_{directory + "/node_modules"} {
    for (const Package package : wanted_) {
      if (!package->in_bundle) own_places_.insert(package->path);
      for (const auto& [command, file] : package->bin)
        programs_.insert(within(package->path + "/" + file));
    }
  }

  TreeManifest build(LayerInfo& info) {
    for (const Package package : wanted_)
      if (!package->in_bundle) add(*package, info);
    link_commands();
    // The last of all, as npm believes it only if nothing is younger.
    if (!wanted_.empty()) tree_.add_text(".package-lock.json", hidden_lockfile());
    info.package_count = wanted_.size();
    return tree_.finish();
  }

  uint64_t own_disk_bytes() const { return tree_.own_disk_bytes(); }

 private:
  static std::string within(std::string_view path) {
    return std::string{path.substr(kFolder.size())};
  }

  void add(const LockedPackage& package, LayerInfo& info) {
    const std::string id = PackageStore::id_of(package.integrity);
    const TreeManifest files = read_content_manifest(store_, id);
    const Fd source = open_directory(store_.content(id) + "/files");
    // What npm has found another package for is not taken from the bundle.
    const auto is_wanted = [this, &package](std::string_view file) {
      return !file.starts_with(kFolder) || !is_elsewhere(package.path + "/", file);
    };
    tree_.add_package(source.get(), files, within(package.path), programs_, is_wanted);
    info.packages.push_back({package.path, id, files.disk_bytes()});
  }

  // True if the file lies where another package of the tree belongs.
  bool is_elsewhere(const std::string& prefix, std::string_view file) const {
    for (std::string_view path = directory_of(file); !path.empty(); path = directory_of(path))
      if (own_places_.contains(prefix + std::string{path})) return true;
    return false;
  }

  // Each into the .bin beside its package. If two want the same name npm lets the first have it.
  void link_commands() {
    std::vector<Package> order = wanted_;
    std::sort(order.begin(), order.end(),
              [](Package a, Package b) { return npm_less(a->path, b->path); });
    Paths taken;
    for (const Package package : order) {
      const std::string_view name = folder_name(package->path);
      const std::string_view folder =
          std::string_view{package->path}.substr(0, package->path.size() - name.size());
      for (const auto& [command, file] : package->bin) {
        if (!tree_.has_file(within(package->path + "/" + file))) continue;
        std::string link = within(fmt::format("{}.bin/{}", folder, command));
        if (tree_.has_file(link) || !taken.insert(link).second) continue;
        tree_.add_link(link, fmt::format("../{}/{}", name, file));
      }
    }
  }

  std::string hidden_lockfile() const {
    json::object packages;
    for (const Package package : wanted_) {
      json::object entry = package->entry;
      entry.erase("resolved");
      packages[package->path] = std::move(entry);
    }
    json::object whole;
    whole["lockfileVersion"] = 3;
    whole["requires"] = true;
    whole["packages"] = std::move(packages);
    return npm_json(whole);
  }

  const StoreDirectory& store_;
  std::vector<Package> wanted_;
  Paths own_places_;
  Paths programs_;
  LayerTree tree_;
};

}  // namespace

LayerInfo build_layer(const StoreDirectory& store, const std::string& directory,
                      const std::string& key, const LayerRecipe& recipe) {
  make_directory(directory + "/node_modules");
  LayerInfo info;
  info.key = key;
  info.target = recipe.target;
  info.dependencies = recipe.dependencies;
  info.resolved_at = recipe.resolved_at;
  Builder builder{store, directory, recipe};
  const TreeManifest files = builder.build(info);
  info.files = files.files.size();
  info.bytes = files.bytes();
  const std::string list = files.serialize();
  const std::string lockfile = recipe.lockfile.serialize();
  info.file_list_sha256 = hash_of(list);
  info.lockfile_sha256 = hash_of(lockfile);
  info.own_disk_bytes =
      builder.own_disk_bytes() + in_blocks(list.size()) + in_blocks(lockfile.size());
  write_new_file(directory + "/file-list", list);
  write_new_file(directory + "/package-lock.json", lockfile);
  write_new_file(directory + "/manifest.json", info.serialize());
  return info;
}

}  // namespace belljar::packages
