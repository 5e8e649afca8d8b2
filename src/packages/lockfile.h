#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "packages/dependency.h"

namespace belljar::packages {

// One package of a tree, where npm would put it.
struct LockedPackage {
  std::string path;        // "node_modules/a/node_modules/@scope/b"
  std::string name;        // what the registry calls it; the path may end otherwise, by an alias
  std::string version;     // "1.2.3"
  std::string integrity;   // "sha512-…", one or several as npm writes them; "" if in a bundle
  std::string resolved;    // the address of its tarball, or "" if the registry is to say it
  bool in_bundle = false;  // it comes with the package around it, which has it in its own tarball
  bool optional = false;   // the tree is whole without it
  bool has_install_script = false;
  std::map<std::string, std::string, std::less<>> bin;  // command → file of the package
  std::vector<std::string> os, cpu, libc;               // as in package.json; empty: any
  json::object entry;                                   // as it stands in package-lock.json, whole
};

// What a package-lock.json (version 3) says: which packages a set of dependencies means, where each
// is, and the hash of each.
struct Lockfile {
  std::vector<Dependency> dependencies;  // of the root, sorted by name
  std::vector<LockedPackage> packages;   // sorted by path
  json::object root;  // what else npm says of the root (devDependencies, …); mostly empty

  static constexpr size_t kMaxPackages = 5000;
  static constexpr size_t kMaxText = 16u << 20;

  // Error{invalid} with what is wrong, for what is no lockfile, has a package without integrity or
  // a path that is not one (`..`, absolute, not beneath node_modules), or one that is no package of
  // a registry (a link, git, a file). The text may come from a client; so `resolved` stays empty:
  // nobody but the registry's own documents says which address belljar asks. Takes milliseconds
  // per megabyte: call it by run_blocking() if it may be large.
  static Lockfile parse(std::string_view text);

  // As npm would write it: the same keys in the same order, indented by two. Without addresses of
  // registries and without the root's name, so that it means the same everywhere.
  std::string serialize() const;
};

// "node_modules/a/node_modules/@scope/b" → "@scope/b".
std::string_view folder_name(std::string_view path);

}  // namespace belljar::packages
