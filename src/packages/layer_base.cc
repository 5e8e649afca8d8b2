#include "packages/layer_base.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/id.h"
#include "base/log.h"
#include "base/posix.h"
#include "base/sha256.h"
#include "packages/beneath.h"
#include "packages/layer_directory.h"
#include "packages/layer_tree.h"
#include "packages/store_files.h"

namespace belljar::packages {
namespace {

constexpr size_t kLargestList = 256u << 20;

using Lines = std::set<std::string>;

std::string hash_of(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.finish();
}

// How a package and its place are called in the list `packages` of a base.
std::string line_of(const LayerInfo::Package& package) {
  return package.content + " " + package.path;
}

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct Candidate {
  std::string id;
  size_t common = 0;
  std::set<std::string> packages;
};

// The bases that have most in common with what is wanted: `whole` of those of which nothing would
// be too much, `part` of all.
struct Candidates {
  Candidate whole;
  Candidate part;
};

Candidates compare_bases(const StoreDirectory& store, const Lines& wanted) {
  Candidates best;
  for (const std::string& id : names_in(store.path() + "/trees")) {
    if (!is_layer_key(id)) continue;
    Candidate one{id, 0, {}};
    try {
      one.packages = lines_of(read_file(store.tree(id) + "/packages", kLargestList));
    } catch (const Error& error) {
      log::debug("a base cannot be read: {}", error.what());
      continue;
    }
    for (const std::string& line : one.packages) one.common += wanted.contains(line) ? 1 : 0;
    if (one.common == one.packages.size() && one.common > best.whole.common) best.whole = one;
    if (one.common > best.part.common) best.part = std::move(one);
  }
  return best;
}

bool is_same(const UnpackedFile& a, const UnpackedFile& b) {
  return a.sha256 == b.sha256 && a.size == b.size && a.executable == b.executable;
}

// What the plan has beyond a base; nothing if the base has something that the plan has not.
std::optional<LayerPlan> without(const LayerPlan& plan, const TreeManifest& base) {
  std::map<std::string_view, const UnpackedFile*> files;
  std::map<std::string_view, std::string_view> links;
  for (const UnpackedFile& file : base.files) files[file.path] = &file;
  for (const TreeLink& link : base.links) links[link.path] = link.target;
  LayerPlan rest;
  rest.packages = plan.packages;
  rest.package_count = plan.package_count;
  size_t found = 0;
  for (const LayerPlan::File& file : plan.files) {
    const auto at = files.find(file.file.path);
    found += at != files.end() ? 1 : 0;
    if (at == files.end() || !is_same(*at->second, file.file)) rest.files.push_back(file);
  }
  for (const TreeLink& link : plan.links) {
    const auto at = links.find(link.path);
    found += at != links.end() ? 1 : 0;
    if (at == links.end() || at->second != link.target) rest.links.push_back(link);
  }
  if (found != files.size() + links.size()) return std::nullopt;
  return rest;
}

// Of a plan only the files of some packages.
LayerPlan only(const LayerPlan& plan, const std::set<std::string>& lines) {
  LayerPlan part;
  part.packages = plan.packages;
  std::vector<bool> is_wanted;
  is_wanted.reserve(plan.packages.size());
  for (const LayerInfo::Package& package : plan.packages)
    is_wanted.push_back(lines.contains(line_of(package)));
  for (const LayerPlan::File& file : plan.files)
    if (file.package != LayerPlan::kOfNoPackage && is_wanted[file.package])
      part.files.push_back(file);
  return part;
}

std::string list_packages(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\n");
  return text;
}

uint64_t shared_bytes(const TreeManifest& files, const std::string& list, const Lines& packages) {
  uint64_t bytes = in_blocks(list.size()) + in_blocks(list_packages(packages).size());
  std::set<std::string_view> directories{"", "."};  // node_modules and the one around it
  for (const UnpackedFile& file : files.files)
    for (std::string_view path = directory_of(file.path); !path.empty(); path = directory_of(path))
      if (!directories.insert(path).second) break;
  return bytes + in_blocks(1) * directories.size();
}

// Makes a base of the plan, unless there is one.
LayerBase make_base(const StoreDirectory& store, const LayerPlan& plan, const Lines& packages) {
  const TreeManifest files = plan.manifest();
  const std::string list = files.serialize();
  LayerBase base;
  base.id = hash_of(list);
  base.disk_bytes = shared_bytes(files, list, packages);
  struct stat status {};
  if (::stat(store.tree(base.id).c_str(), &status) == 0) return base;
  Temporary temporary{store.make_temporary()};
  make_directory(temporary.path() + "/node_modules");
  write_tree(store, plan, temporary.path() + "/node_modules");
  write_new_file(temporary.path() + "/file-list", list);
  write_new_file(temporary.path() + "/packages", list_packages(packages));
  base.is_new = store.publish(temporary.path(), store.tree(base.id));
  if (base.is_new) temporary.keep();
  return base;
}

// A base that is there, if it fits.
std::optional<LayerBase> use_base(const StoreDirectory& store, const LayerPlan& plan,
                                  const Candidate& candidate) {
  try {
    const Fd directory = open_directory(store.tree(candidate.id));
    const TreeManifest files = read_base(directory.get(), candidate.id);
    auto rest = without(plan, files);
    if (!rest) return std::nullopt;
    const uint64_t bytes = shared_bytes(files, files.serialize(), candidate.packages);
    return LayerBase{candidate.id, bytes, false, std::move(*rest)};
  } catch (const Error& error) {
    log::warning("a tree that layers share is damaged: {}: {}", candidate.id, error.what());
    retire_base(store, candidate.id);
    return std::nullopt;
  }
}

}  // namespace

LayerBase find_base(const StoreDirectory& store, LayerPlan plan) {
  if (plan.packages.size() < kFewestToShare) return {"", 0, false, std::move(plan)};
  Lines wanted;
  for (const LayerInfo::Package& package : plan.packages) wanted.insert(line_of(package));
  const Candidates best = compare_bases(store, wanted);
  const auto is_most = [&wanted](size_t common) { return common * 2 >= wanted.size(); };
  // A base that fits is taken if another one would not save much more.
  if (is_most(best.whole.common) && best.whole.common * 10 >= best.part.common * 9)
    if (auto base = use_base(store, plan, best.whole)) return std::move(*base);
  LayerPlan shared = plan;
  Lines packages = wanted;
  if (is_most(best.part.common)) {  // what both have is likely to be wanted again
    std::erase_if(packages,
                  [&best](const auto& line) { return !best.part.packages.contains(line); });
    shared = only(plan, packages);
  }
  LayerBase base = make_base(store, shared, packages);
  auto rest = without(plan, shared.manifest());
  base.rest = std::move(*rest);  // `shared` is a part of the plan
  return base;
}

TreeManifest read_base(int directory, const std::string& id) {
  const Fd file{sys(open_beneath(directory, "file-list", O_RDONLY), "open the list of a tree")};
  const std::string list = read_to_end(file.get(), "file-list", kLargestList);
  if (hash_of(list) != id) fail(Code::unavailable, "the list of the tree {} does not fit", id);
  return TreeManifest::parse(list);
}

void retire_base(const StoreDirectory& store, const std::string& id) {
  const std::string path = store.tree(id);
  ::rename(path.c_str(), (path + "." + random_hex(8)).c_str());  // at worst it is found again
}

void delete_unused_bases(const StoreDirectory& store, const std::set<std::string>& used) {
  for (const std::string& name : names_in(store.path() + "/trees")) {
    if (used.contains(name)) continue;
    const Fd lock = lock_alone(store.tree(name));
    if (!lock) continue;
    if (const auto away = store.take_away(store.tree(name))) remove_tree(*away);
  }
}

}  // namespace belljar::packages
