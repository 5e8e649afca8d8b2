#include "packages/layer_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/posix.h"
#include "base/sha256.h"
#include "packages/beneath.h"
#include "packages/npm_json.h"
#include "packages/package_store.h"

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

std::string within(std::string_view path) {
  return std::string{path.substr(kFolder.size())};
}

class Planner {
 public:
  Planner(const StoreDirectory& store, const LayerRecipe& recipe)
      : store_{store},
        wanted_{wanted_packages(recipe.lockfile, recipe.target.platform, recipe.failed)} {
    for (const Package package : wanted_) {
      if (!package->in_bundle) own_places_.insert(package->path);
      for (const auto& [command, file] : package->bin)
        programs_.insert(within(package->path + "/" + file));
    }
  }

  LayerPlan make() {
    plan_.package_count = wanted_.size();
    for (const Package package : wanted_)
      if (!package->in_bundle) add(*package);
    link_commands();
    // The last of all, as npm believes it only if nothing is younger.
    if (!wanted_.empty()) add_text(".package-lock.json", hidden_lockfile());
    return std::move(plan_);
  }

 private:
  void add(const LockedPackage& package) {
    const std::string id = PackageStore::id_of(package.integrity);
    const TreeManifest files = read_content_manifest(store_, id);
    const Fd source = open_directory(store_.content(id) + "/files");
    plan_.packages.push_back({package.path, id, files.disk_bytes()});
    const std::string prefix = within(package.path) + "/";
    for (const UnpackedFile& file : files.files) {
      // What npm has found another package for is not taken from the bundle.
      if (file.path.starts_with(kFolder) && is_elsewhere(package.path + "/", file.path)) continue;
      add_file(file, prefix, source.get());
    }
  }

  // True if the file lies where another package of the tree belongs.
  bool is_elsewhere(const std::string& prefix, std::string_view file) const {
    for (std::string_view path = directory_of(file); !path.empty(); path = directory_of(path))
      if (own_places_.contains(prefix + std::string{path})) return true;
    return false;
  }

  void add_file(const UnpackedFile& file, const std::string& prefix, int source) {
    LayerPlan::File planned{file, plan_.packages.size() - 1, file.path};
    planned.file.path = prefix + file.path;
    paths_.insert(planned.file.path);
    if (!file.executable && programs_.contains(planned.file.path)) {
      planned.is_made_executable = true;
      planned.file.executable = true;
      if (file.size <= kLargestProgram) read_program(planned, source);
    }
    plan_.files.push_back(std::move(planned));
  }

  static void read_program(LayerPlan::File& planned, int source) {
    const Fd file{
        sys(open_beneath(source, planned.source.c_str(), O_RDONLY), "open {}", planned.file.path)};
    const std::string text = program_text(file.get(), planned.file.path);
    planned.file.sha256 = hash_of(text);
    planned.file.size = text.size();
  }

  void add_text(const std::string& path, std::string text) {
    UnpackedFile file{path, text.size(), hash_of(text), false};
    plan_.files.push_back({std::move(file), LayerPlan::kOfNoPackage, std::move(text)});
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
        if (!paths_.contains(within(package->path + "/" + file))) continue;
        std::string link = within(fmt::format("{}.bin/{}", folder, command));
        if (paths_.contains(link) || !taken.insert(link).second) continue;
        plan_.links.push_back({std::move(link), fmt::format("../{}/{}", name, file)});
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
  Paths paths_;
  LayerPlan plan_;
};

}  // namespace

TreeManifest LayerPlan::manifest() const {
  TreeManifest result;
  for (const File& file : files) result.files.push_back(file.file);
  result.links = links;
  result.sort();
  return result;
}

LayerPlan plan_layer(const StoreDirectory& store, const LayerRecipe& recipe) {
  return Planner{store, recipe}.make();
}

std::string program_text(int file, const std::string& name) {
  std::string text = read_to_end(file, name, kLargestProgram);
  const size_t end = text.find('\n');
  if (text.starts_with("#!") && end != std::string::npos && end > 2 && text[end - 1] == '\r')
    text.erase(end - 1, 1);
  return text;
}

}  // namespace belljar::packages
