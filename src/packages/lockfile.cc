#include "packages/lockfile.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/utf8.h"
#include "packages/integrity.h"
#include "packages/npm_json.h"
#include "packages/package_document.h"
#include "packages/semver.h"

namespace belljar::packages {
namespace {

constexpr std::string_view kFolder = "node_modules/";
constexpr size_t kLongestPath = 1024;
constexpr size_t kShown = 120;

std::string shown(std::string_view text) {
  const size_t length = utf8_prefix(text, kShown);
  return json::serialize(
      json::value(to_utf8(text.substr(0, length)) + (length < text.size() ? "…" : "")));
}

template <class... Args>
[[noreturn]] void refuse(std::string_view path, fmt::format_string<Args...> why, Args&&... args) {
  fail(Code::invalid, "the lockfile cannot be used: {} {}", shown(path),
       fmt::format(why, std::forward<Args>(args)...));
}

bool flag(const json::object& entry, std::string_view key) {
  const json::value* value = find(entry, key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

std::string text_of(const json::object& entry, std::string_view key, std::string_view path) {
  const json::value* value = find(entry, key);
  if (value == nullptr) return "";
  if (!value->is_string()) refuse(path, "has a \"{}\" that is no text", key);
  return std::string{value->get_string()};
}

// A package.json may say one word instead of a list.
std::vector<std::string> words_of(const json::object& entry, std::string_view key) {
  std::vector<std::string> words;
  const json::value* value = find(entry, key);
  if (value == nullptr) return words;
  if (value->is_string()) words.emplace_back(value->get_string());
  if (const json::array* list = value->if_array())
    for (const json::value& word : *list)
      if (word.is_string()) words.emplace_back(word.get_string());
  return words;
}

void check_path(std::string_view path) {
  if (path.size() > kLongestPath) refuse(path, "is too long a path");
  std::string_view rest = path;
  while (!rest.empty()) {
    if (!rest.starts_with(kFolder)) refuse(path, "is not the path of a package in node_modules");
    rest.remove_prefix(kFolder.size());
    const size_t end = std::min(rest.find("/node_modules/"), rest.size());
    if (!is_package_name(rest.substr(0, end)))
      refuse(path, "is not the path of a package in node_modules");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// `path.join("/", text)` without the first slash: what is above the root is the root.
std::string joined(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("/\\"), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (!part.empty() && part != "." && part != "..") parts.push_back(part);
  }
  std::string result;
  for (const std::string_view part : parts) result.append(result.empty() ? "" : "/").append(part);
  return result;
}

// As npm-normalize-package-bin does it.
void add_bin(LockedPackage& package, std::string_view command, const json::value& target) {
  const size_t at = command.find_last_of("/\\:");
  if (at != std::string_view::npos) command.remove_prefix(at + 1);
  const json::string* file = target.if_string();
  if (command.empty() || command == "." || command == ".." || file == nullptr) return;
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (command.size() > 255 || std::any_of(command.begin(), command.end(), is_control))
    refuse(package.path, "has a command with a name that no file can have");
  std::string normal = joined(*file);
  if (!normal.empty()) package.bin.insert_or_assign(std::string{command}, std::move(normal));
}

void read_bin(LockedPackage& package) {
  const json::value* bin = find(package.entry, "bin");
  if (bin == nullptr) return;
  if (bin->is_string()) add_bin(package, package.name, *bin);
  if (const json::object* commands = bin->if_object())
    for (const auto& [command, target] : *commands) add_bin(package, command, target);
}

void check_source(const LockedPackage& package, const std::string& resolved) {
  const auto starts = [&resolved](std::string_view with) { return resolved.starts_with(with); };
  if (flag(package.entry, "link"))
    refuse(package.path, "is a link to a directory; only packages of a registry can be installed");
  if (!resolved.empty() && !starts("https://") && !starts("http://"))
    refuse(package.path,
           "comes from {}; only packages of a registry can be installed, none from git or files",
           shown(resolved));
  if (package.in_bundle) return;
  if (package.integrity.empty())
    refuse(package.path,
           "has no \"integrity\", so that it could not be checked; make the "
           "lockfile anew with npm 7 or later");
  if (!parse_integrity(package.integrity))
    refuse(package.path, "has an \"integrity\" that is none: {}", shown(package.integrity));
}

LockedPackage read_package(std::string_view path, const json::value& value) {
  check_path(path);
  const json::object* entry = value.if_object();
  if (entry == nullptr) refuse(path, "is not described by an object");
  LockedPackage package;
  package.path = path;
  package.entry = *entry;
  package.name = text_of(*entry, "name", path);
  if (package.name.empty()) package.name = folder_name(path);
  if (!is_package_name(package.name)) refuse(path, "has a name that no package can have");
  package.integrity = text_of(*entry, "integrity", path);
  package.in_bundle = flag(*entry, "inBundle");
  check_source(package, text_of(*entry, "resolved", path));
  package.version = text_of(*entry, "version", path);
  if (!parse_version(package.version)) refuse(path, "has no proper \"version\"");
  package.optional = flag(*entry, "optional");
  package.has_install_script = flag(*entry, "hasInstallScript");
  package.os = words_of(*entry, "os");
  package.cpu = words_of(*entry, "cpu");
  package.libc = words_of(*entry, "libc");
  read_bin(package);
  return package;
}

// What lies inside another package must have that package around it, and a bundle its owner.
void check_nesting(const Lockfile& lockfile) {
  std::set<std::string_view> paths;
  for (const LockedPackage& package : lockfile.packages) paths.insert(package.path);
  for (const LockedPackage& package : lockfile.packages) {
    const std::string_view path = package.path;
    const size_t at = path.rfind("/node_modules/");
    const bool is_nested = at != std::string_view::npos;
    if (is_nested && !paths.contains(path.substr(0, at)))
      refuse(path, "lies inside of a package that the lockfile does not have");
    if (!is_nested && package.in_bundle) refuse(path, "is in a bundle, but in no other package");
  }
}

void read_root(Lockfile& lockfile, const json::value& value) {
  const json::object* root = value.if_object();
  if (root == nullptr) fail(Code::invalid, "the lockfile does not describe its root by an object");
  for (const auto& [key, what] : *root)
    if (key != "name" && key != "version" && key != "dependencies") lockfile.root[key] = what;
  if (root->contains("workspaces"))
    fail(Code::invalid, "the lockfile has workspaces, whose directories belljar does not have");
  const json::object* dependencies = find_object(*root, "dependencies");
  if (dependencies == nullptr) return;
  for (const auto& [name, range] : *dependencies) {
    const json::string* spec = range.if_string();
    if (!is_package_name(name) || spec == nullptr ||
        (!spec->empty() && !spec->starts_with("npm:") && !is_package_spec(*spec)))
      refuse(name, "is a dependency that no registry serves");
    lockfile.dependencies.push_back({std::string{name}, std::string{*spec}});
  }
}

json::value parse_text(std::string_view text) {
  if (text.size() > Lockfile::kMaxText)
    fail(Code::invalid, "the lockfile is larger than {} MiB", Lockfile::kMaxText >> 20);
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object())
    fail(Code::invalid, "the lockfile is not JSON: give the text of a package-lock.json");
  return value;
}

}  // namespace

std::string_view folder_name(std::string_view path) {
  const size_t at = path.rfind(kFolder);
  return at == std::string_view::npos ? path : path.substr(at + kFolder.size());
}

Lockfile Lockfile::parse(std::string_view text) {
  const json::value value = parse_text(text);
  const json::object& whole = value.get_object();
  const json::value* version = find(whole, "lockfileVersion");
  const bool is_readable = version != nullptr && version->is_int64() &&
                           (version->get_int64() == 2 || version->get_int64() == 3);
  if (!is_readable)
    fail(Code::invalid,
         "the lockfile has another \"lockfileVersion\" than 3: make it anew with npm 7 or later");
  const json::object* packages = find_object(whole, "packages");
  if (packages == nullptr) fail(Code::invalid, "the lockfile has no \"packages\"");
  if (packages->size() > kMaxPackages + 1)
    fail(Code::invalid, "the lockfile has {} packages; {} is the limit", packages->size() - 1,
         kMaxPackages);
  Lockfile lockfile;
  for (const auto& [path, entry] : *packages) {
    if (path.empty())
      read_root(lockfile, entry);
    else
      lockfile.packages.push_back(read_package(path, entry));
  }
  const auto by_name = [](const Dependency& a, const Dependency& b) { return a.name < b.name; };
  std::sort(lockfile.dependencies.begin(), lockfile.dependencies.end(), by_name);
  const auto by_path = [](const LockedPackage& a, const LockedPackage& b) {
    return a.path < b.path;
  };
  std::sort(lockfile.packages.begin(), lockfile.packages.end(), by_path);
  check_nesting(lockfile);
  return lockfile;
}

std::string Lockfile::serialize() const {
  json::object everything = root;
  json::object wanted;
  for (const Dependency& dependency : dependencies) wanted[dependency.name] = dependency.version;
  if (!wanted.empty()) everything["dependencies"] = std::move(wanted);
  json::object all;
  all.reserve(packages.size() + 1);
  if (!everything.empty()) all[""] = std::move(everything);
  for (const LockedPackage& package : packages) {
    json::object entry = package.entry;
    entry.erase("resolved");
    all[package.path] = std::move(entry);
  }
  json::object whole;
  whole["lockfileVersion"] = 3;
  whole["requires"] = true;
  whole["packages"] = std::move(all);
  return npm_json(whole);
}

}  // namespace belljar::packages
