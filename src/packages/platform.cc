#include "packages/platform.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "packages/lockfile.h"

namespace belljar::packages {
namespace {

// npm-install-checks: none of those with "!", and one of the others if there are any.
bool is_on_list(const std::string& value, const std::vector<std::string>& list) {
  if (list.empty() || (list.size() == 1 && list.front() == "any")) return true;
  bool is_named = false;
  size_t negated = 0;
  for (const std::string& word : list) {
    if (word.starts_with('!')) {
      ++negated;
      if (word.substr(1) == value) return false;
    } else if (word == value) {
      is_named = true;
    }
  }
  return is_named || negated == list.size();
}

using Package = const LockedPackage*;

// Who needs whom.
class Graph {
 public:
  explicit Graph(const Lockfile& lockfile) {
    for (const LockedPackage& package : lockfile.packages) by_path_[package.path] = &package;
    for (const LockedPackage& package : lockfile.packages) {
      add_edges(package, "dependencies", Need::required);
      add_edges(package, "peerDependencies", Need::required);
      // Listed last: npm writes an optional dependency into `dependencies` as well.
      add_edges(package, "optionalDependencies", Need::optional);
    }
    for (const Dependency& dependency : lockfile.dependencies) add_root(dependency.name);
    for (const char* kind : {"devDependencies", "optionalDependencies", "peerDependencies"})
      if (const json::object* names = find_object(lockfile.root, kind))
        for (const auto& member : *names) add_root(member.key());
  }

  // Adds to the set whoever cannot do without one of its members.
  void add_dependents(std::set<Package>& gone) const {
    std::vector<Package> left{gone.begin(), gone.end()};
    while (!left.empty()) {
      const Package package = left.back();
      left.pop_back();
      const auto users = users_.find(package);
      if (users == users_.end()) continue;
      for (const Package user : users->second)
        if (user->optional && gone.insert(user).second) left.push_back(user);
    }
  }

  // Everything that can be reached from there without passing through what is gone.
  std::set<Package> reachable(std::vector<Package> from, const std::set<Package>& gone) const {
    std::set<Package> found;
    while (!from.empty()) {
      const Package package = from.back();
      from.pop_back();
      if (gone.contains(package) || !found.insert(package).second) continue;
      if (const auto at = needs_.find(package); at != needs_.end())
        for (const auto& [needed, how] : at->second) from.push_back(needed);
    }
    return found;
  }

  const std::vector<Package>& roots() const { return roots_; }

 private:
  enum class Need { required, optional };

  // Where Node.js would find it: in the nearest node_modules upwards.
  Package find_from(std::string_view path, std::string_view name) const {
    while (true) {
      const std::string candidate =
          fmt::format("{}{}node_modules/{}", path, path.empty() ? "" : "/", name);
      if (const auto at = by_path_.find(candidate); at != by_path_.end()) return at->second;
      if (path.empty()) return nullptr;
      const size_t end = path.rfind("/node_modules/");
      path = end == std::string_view::npos ? "" : path.substr(0, end);
    }
  }

  void add_edges(const LockedPackage& from, std::string_view kind, Need how) {
    const json::object* names = find_object(from.entry, kind);
    if (names == nullptr) return;
    for (const auto& member : *names) {
      const Package to = find_from(from.path, member.key());
      if (to == nullptr) continue;
      needs_[&from][to] = how;
      if (how == Need::required)
        users_[to].insert(&from);
      else
        users_[to].erase(&from);
    }
  }

  void add_root(std::string_view name) {
    if (const Package package = find_from("", name)) roots_.push_back(package);
  }

  std::map<std::string_view, Package> by_path_;
  std::map<Package, std::map<Package, Need>> needs_;
  std::map<Package, std::set<Package>> users_;  // those that cannot do without it
  std::vector<Package> roots_;
};

// True if the package, or one that it lies in, is among them.
bool is_in_or_at(std::string_view path, const std::set<std::string_view>& paths) {
  while (!paths.contains(path)) {
    const size_t end = path.rfind("/node_modules/");
    if (end == std::string_view::npos) return false;
    path = path.substr(0, end);
  }
  return true;
}

std::string for_which(const LockedPackage& package) {
  std::string text;
  const auto add = [&text](std::string_view what, const std::vector<std::string>& list) {
    if (!list.empty())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, fmt::join(list, " or "));
  };
  add("os", package.os);
  add("cpu", package.cpu);
  add("libc", package.libc);
  return text;
}

}  // namespace

Platform Platform::of_this_machine() {
  Platform platform;
#if defined(__x86_64__)
  platform.cpu = "x64";
#else
  platform.cpu = "arm64";
#endif
  return platform;
}

bool suits(const LockedPackage& package, const Platform& platform) {
  return is_on_list(platform.os, package.os) && is_on_list(platform.cpu, package.cpu) &&
         is_on_list(platform.libc, package.libc);
}

std::vector<Package> wanted_packages(const Lockfile& lockfile, const Platform& platform,
                                     const std::vector<std::string>& failed) {
  std::set<Package> gone;
  for (const LockedPackage& package : lockfile.packages) {
    const bool has_failed =
        package.optional && std::find(failed.begin(), failed.end(), package.path) != failed.end();
    if (!has_failed && suits(package, platform)) continue;
    if (!package.optional)
      fail(Code::unavailable, "{} {} is only for {}; this is os {}, cpu {}, libc {}", package.name,
           package.version, for_which(package), platform.os, platform.cpu, platform.libc);
    gone.insert(&package);
  }
  std::vector<Package> wanted;
  if (!gone.empty()) {
    const Graph graph{lockfile};
    graph.add_dependents(gone);
    const std::set<Package> needed = graph.reachable(graph.roots(), gone);
    for (const Package package : graph.reachable({gone.begin(), gone.end()}, {}))
      if (package->optional && !needed.contains(package)) gone.insert(package);
  }
  const auto by_path = [](Package package) { return std::string_view{package->path}; };
  std::set<std::string_view> gone_paths;
  std::transform(gone.begin(), gone.end(), std::inserter(gone_paths, gone_paths.end()), by_path);
  for (const LockedPackage& package : lockfile.packages)
    if (!is_in_or_at(package.path, gone_paths)) wanted.push_back(&package);
  return wanted;
}

}  // namespace belljar::packages
