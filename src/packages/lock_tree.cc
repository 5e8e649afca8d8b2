#include "packages/lock_tree.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "packages/not_sure.h"

namespace belljar::packages {
namespace {

constexpr size_t kMostPackages = 5'000;

// How the tree needs a node: true as long as nobody was found who needs it more.
struct Flags {
  bool optional = true;
  bool peer = true;
  bool extraneous = true;

  bool lower(bool& flag, bool needed) {
    if (!flag || !needed) return false;
    flag = false;
    return true;
  }
};

using FlagsOf = std::unordered_map<const TreeNode*, Flags>;

FlagsOf find_flags(TreeNode& root) {
  FlagsOf flags;
  flags[&root] = {false, false, false};
  std::vector<TreeNode*> queue{&root};
  while (!queue.empty()) {
    TreeNode& node = *queue.back();
    queue.pop_back();
    const Flags own = flags[&node];
    if (!own.extraneous)
      for (TreeNode* above = node.parent; above != nullptr; above = above->parent)
        flags[above].extraneous = false;
    for (const TreeEdge& edge : node.edges_out) {
      if (edge.to == nullptr) continue;
      Flags& its = flags[edge.to];
      bool changed = its.lower(its.extraneous, !own.extraneous && !edge.is_peer_optional());
      changed |= its.lower(its.optional, !own.optional && !edge.is_optional());
      changed |= its.lower(its.peer, !own.peer && !edge.is_peer());
      if (changed) queue.push_back(edge.to);
    }
  }
  return flags;
}

class Locking {
 public:
  Locking(IdealTree& ideal, Picks& picks, const ResolveRequest& request)
      : tree_{ideal.tree()},
        ideal_{ideal},
        picks_{picks},
        request_{request},
        node_version_{*parse_version(request.node_version)},
        npm_version_{*parse_version(request.npm_version)},
        flags_{find_flags(tree_.root())} {}

  Resolution run() {
    check_failures();
    Resolution result;
    Lockfile& lockfile = result.lockfile.emplace();
    lockfile.dependencies = request_.dependencies;
    const auto by_name = [](const Dependency& a, const Dependency& b) { return a.name < b.name; };
    std::sort(lockfile.dependencies.begin(), lockfile.dependencies.end(), by_name);
    for (TreeNode* node : tree_.nodes()) {
      if (node->is_failure) continue;  // optional, so npm leaves it out
      lockfile.packages.push_back(lock(*node));
    }
    if (lockfile.packages.size() > kMostPackages) be_unsure("there are too many packages");
    const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
    std::sort(lockfile.packages.begin(), lockfile.packages.end(), by_path);
    std::sort(warnings_.begin(), warnings_.end());
    warnings_.erase(std::unique(warnings_.begin(), warnings_.end()), warnings_.end());
    result.warnings = std::move(warnings_);
    return result;
  }

 private:
  void check_failures() {
    for (const IdealTree::Failure& failure : ideal_.failures()) {
      if (!tree_.has(*failure.node) || flags_[failure.node].optional) continue;
      const Picks::Pick& pick = *picks_.find(failure.edge->wanted->spec);
      fail(pick.code, "{}{}", pick.problem, wanted_by(*failure.edge->from));
    }
  }

  std::string wanted_by(const TreeNode& from) const {
    if (from.manifest == nullptr) return "";
    return fmt::format("; {} {} depends on it", from.manifest->name, from.manifest->version_text);
  }

  LockedPackage lock(TreeNode& node) {
    const Manifest& manifest = *node.manifest;
    const Flags flags = flags_[&node];
    const TreeNode* wants = node.edges_in.empty() ? nullptr : node.edges_in.front()->from;
    const std::string because = wants != nullptr ? wanted_by(*wants) : "";
    if (request_.denied.contains(manifest.name))
      fail(Code::denied, "the package {} must not be installed here{}", manifest.name, because);
    if (!flags.optional) check_surroundings(manifest, because);
    LockedPackage locked;
    locked.path = tree_.path_of(node);
    locked.name = manifest.name;
    locked.version = manifest.version_text;
    locked.integrity = manifest.integrity;
    locked.resolved = manifest.tarball;
    locked.optional = flags.optional && !flags.extraneous;
    locked.has_install_script = manifest.has_install_script;
    locked.bin = manifest.bin;
    locked.os = manifest.os;
    locked.cpu = manifest.cpu;
    locked.libc = manifest.libc;
    locked.entry = manifest.entry;
    if (tree_.name_of(node.name) != manifest.name) locked.entry["name"] = manifest.name;
    if (flags.extraneous) locked.entry["extraneous"] = true;
    if (flags.peer && !flags.extraneous) locked.entry["peer"] = true;
    if (locked.optional) locked.entry["optional"] = true;
    return locked;
  }

  void check_surroundings(const Manifest& manifest, const std::string& because) {
    const Platform& here = request_.platform;
    if (!platform_accepts(manifest.os, here.os) || !platform_accepts(manifest.cpu, here.cpu) ||
        !platform_accepts(manifest.libc, here.libc))
      fail(Code::invalid, "{} {} is not for this platform ({} {} {}), but for {}{}", manifest.name,
           manifest.version_text, here.os, here.cpu, here.libc, platforms_of(manifest), because);
    if (engines_accept(manifest, node_version_, npm_version_)) return;
    const bool is_node = !Range::parse(manifest.node_range) ||
                         !Range::parse(manifest.node_range)->accepts(node_version_);
    warnings_.push_back(
        fmt::format("{} {} wants {} {}, this is {}{}", manifest.name, manifest.version_text,
                    is_node ? "Node.js" : "npm", is_node ? manifest.node_range : manifest.npm_range,
                    is_node ? request_.node_version : request_.npm_version, because));
  }

  static std::string platforms_of(const Manifest& manifest) {
    std::string text;
    for (const auto* list : {&manifest.os, &manifest.cpu, &manifest.libc})
      if (!list->empty()) text += (text.empty() ? "" : " and ") + joined(*list);
    return text;
  }

  static std::string joined(const std::vector<std::string>& list) {
    std::string text;
    for (const std::string& item : list) text += (text.empty() ? "" : "/") + item;
    return text;
  }

  DependencyTree& tree_;
  IdealTree& ideal_;
  Picks& picks_;
  const ResolveRequest& request_;
  Version node_version_, npm_version_;
  FlagsOf flags_;
  std::vector<std::string> warnings_;
};

}  // namespace

bool platform_accepts(const std::vector<std::string>& list, const std::string& value) {
  if (list.empty() || (list.size() == 1 && list.front() == "any")) return true;
  bool named = false, only_negated = true;
  for (const std::string& item : list) {
    if (item == "!" + value) return false;
    if (item.starts_with('!')) continue;
    only_negated = false;
    named = named || item == value;
  }
  return named || only_negated;
}

Resolution lock_tree(IdealTree& ideal, Picks& picks, const ResolveRequest& request) {
  return Locking{ideal, picks, request}.run();
}

}  // namespace belljar::packages
