#include "packages/manifest.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "packages/integrity.h"
#include "packages/package_document.h"

namespace belljar::packages {
namespace {

constexpr size_t kMostEdges = 2'000;

// As JavaScript sees a value in a condition.
bool is_truthy(const json::value* value) {
  if (value == nullptr || value->is_null()) return false;
  if (const bool* flag = value->if_bool()) return *flag;
  if (const json::string* text = value->if_string()) return !text->empty();
  if (value->is_number()) return value->to_number<double>() != 0;
  return true;
}

bool is_empty_structure(const json::value& value) {
  return (value.is_object() && value.get_object().empty()) ||
         (value.is_array() && value.get_array().empty());
}

// JavaScript puts members that look like numbers before all others, JSON libraries do not.
bool looks_like_number(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct Reader {
  const json::object& from;
  Manifest& to;
  std::unordered_set<std::string> names = {};  // of the edges so far

  void be_strange(std::string reason) {
    if (to.strange.empty()) to.strange = std::move(reason);
  }

  // A name that is given twice counts where it stood last.
  void add_edge(std::string_view name, const json::value& spec, EdgeType type) {
    if (!is_package_name(name) || looks_like_number(name) || !spec.is_string())
      return be_strange("it depends on something without a proper name or range");
    if (to.edges.size() >= kMostEdges) return be_strange("it has too many dependencies");
    if (!names.emplace(name).second)
      std::erase_if(to.edges, [name](const DependencyEdge& edge) { return edge.name == name; });
    to.edges.push_back({std::string{name}, PackageSpec::parse(name, spec.get_string()), type});
  }

  const json::object* dependencies(std::string_view key) {
    const json::value* value = find(from, key);
    if (!is_truthy(value)) return nullptr;
    if (!value->is_object()) be_strange("its " + std::string{key} + " are no object");
    if (value->is_object() && value->get_object().size() > kMostEdges) {
      be_strange("it has too many dependencies");
      return nullptr;
    }
    return value->if_object();
  }

  void read_peers() {
    const json::object* peers = dependencies("peerDependencies");
    if (peers == nullptr) return;
    const json::object* meta = find_object(from, "peerDependenciesMeta");
    const auto is_optional_peer = [meta](std::string_view name) {
      const json::object* one = meta != nullptr ? find_object(*meta, name) : nullptr;
      return one != nullptr && is_truthy(find(*one, "optional"));
    };
    for (const auto& [name, spec] : *peers)
      if (!is_optional_peer(name)) add_edge(name, spec, EdgeType::peer);
    for (const auto& [name, spec] : *peers)
      if (is_optional_peer(name)) add_edge(name, spec, EdgeType::peer_optional);
  }

  void read_edges() {
    read_peers();
    const json::object* optional = dependencies("optionalDependencies");
    json::object required;
    if (const json::object* all = dependencies("dependencies"))
      for (const auto& [name, spec] : *all)
        // Registries list what is optional twice, for the npm of 2012.
        if (optional == nullptr || !optional->contains(name)) {
          add_edge(name, spec, EdgeType::prod);
          required.emplace(name, spec);
        }
    if (!required.empty()) to.entry["dependencies"] = std::move(required);
    if (optional != nullptr)
      for (const auto& [name, spec] : *optional) add_edge(name, spec, EdgeType::optional);
  }

  void read_list(std::string_view key, std::vector<std::string>& list) {
    const json::value* value = find(from, key);
    if (!is_truthy(value)) return;
    if (const json::string* one = value->if_string()) {
      list.emplace_back(*one);
      return;
    }
    if (!value->is_array()) return be_strange("its " + std::string{key} + " is no list");
    for (const json::value& item : value->get_array()) {
      if (!item.is_string() || item.get_string().empty())
        return be_strange("its " + std::string{key} + " is no list of names");
      list.emplace_back(item.get_string());
    }
  }

  void read_engines() {
    const json::object* engines = find_object(from, "engines");
    if (engines == nullptr) return;
    for (const auto& [key, range] : {std::pair{"node", &to.node_range}, {"npm", &to.npm_range}})
      if (const json::value* value = find(*engines, key); is_truthy(value)) {
        if (value->is_string())
          *range = std::string{value->get_string()};
        else
          be_strange("its engines are not text");
      }
  }

  void read_bin();
  void read_scripts();
  void read_integrity();
  void copy_to_entry();
  void read_special();
};

// "./bin/x.js" → "bin/x.js", and no way out of the package; "" for what names no file.
std::string clean_path(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find_first_of("/\\:"), path.size());
    const std::string_view part = path.substr(0, end);
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  std::string result;
  for (const std::string_view part : parts)
    result += (result.empty() ? "" : "/") + std::string{part};
  return result;
}

void Reader::read_bin() {
  const json::value* value = find(from, "bin");
  if (!is_truthy(value)) return;
  json::object commands;
  if (const json::string* only = value->if_string()) {
    commands[to.name] = *only;
  } else if (const json::array* files = value->if_array()) {
    for (const json::value& file : *files)
      if (file.is_string()) commands[file.get_string()] = file;
  } else if (const json::object* object = value->if_object()) {
    commands = *object;
  }
  json::object cleaned;
  for (const auto& [command, file] : commands) {
    if (!file.is_string()) continue;
    const std::string path = clean_path(command);
    const std::string base = path.substr(path.rfind('/') + 1);
    const std::string target = clean_path(file.get_string());
    // What npm keeps of a name with a trailing slash and the like is not worth guessing.
    if (file.get_string().ends_with('/')) be_strange("one of its commands is a directory");
    if (base.empty() || target.empty()) continue;
    cleaned[base] = target;
    to.bin[base] = target;
  }
  if (!cleaned.empty()) to.entry["bin"] = std::move(cleaned);
}

void Reader::read_scripts() {
  to.has_install_script = is_truthy(find(from, "hasInstallScript"));
  if (const json::object* scripts = find_object(from, "scripts"))
    for (const char* step : {"preinstall", "install", "postinstall"})
      if (const json::string* text = find_string(*scripts, step); text != nullptr && !text->empty())
        to.has_install_script = true;
  if (to.has_install_script) to.entry["hasInstallScript"] = true;
}

void Reader::read_integrity() {
  const json::object* dist = find_object(from, "dist");
  if (dist == nullptr) return be_strange("the registry says nothing of its tarball");
  if (const json::string* text = find_string(*dist, "integrity"); text != nullptr && !text->empty())
    to.integrity = std::string{*text};
  else if (const json::string* sum = find_string(*dist, "shasum"))
    if (const auto integrity = integrity_from_shasum(*sum))
      to.integrity = integrity->algorithm + "-" + integrity->digest;
  if (const json::string* address = find_string(*dist, "tarball")) to.tarball = *address;
  if (to.integrity.empty()) return be_strange("the registry has no hash of its tarball");
  to.entry["integrity"] = to.integrity;
}

void Reader::copy_to_entry() {
  for (const char* key : {"peerDependencies", "peerDependenciesMeta", "optionalDependencies",
                          "funding", "engines", "os", "cpu", "libc", "license", "deprecated"}) {
    const json::value* value = find(from, key);
    if (is_truthy(value) && !is_empty_structure(*value)) to.entry[key] = *value;
  }
  if (json::value* funding = to.entry.if_contains("funding"); funding && funding->is_string()) {
    json::object object;
    object["url"] = *funding;
    *funding = std::move(object);
  }
  if (json::value* license = to.entry.if_contains("license"); license && license->is_object())
    if (const json::value* type = find(license->get_object(), "type"); is_truthy(type)) {
      json::value only_type(*type);
      *license = std::move(only_type);
    }
}

void Reader::read_special() {
  for (const char* key : {"bundleDependencies", "bundledDependencies"})
    if (const json::value* value = find(from, key); is_truthy(value) && !is_empty_structure(*value))
      to.not_placed = "it brings dependencies along in its tarball";
  if (is_truthy(find(from, "_hasShrinkwrap"))) to.not_placed = "it brings its own lockfile along";
  if (is_truthy(find(from, "acceptDependencies"))) be_strange("it has acceptDependencies");
  if (is_truthy(find(from, "workspaces"))) to.entry["workspaces"] = *find(from, "workspaces");
}

}  // namespace

std::shared_ptr<const Manifest> make_manifest(const std::string& package, const Version& version,
                                              std::string_view text) {
  auto manifest = std::make_shared<Manifest>();
  manifest->name = package;
  manifest->version = version;
  manifest->version_text = to_string(version);
  boost::system::error_code error;
  const json::value parsed = json::parse(text, error);
  const json::object* from = parsed.if_object();
  if (from == nullptr) {
    manifest->strange = "what the registry says of it cannot be read";
    return manifest;
  }
  Reader reader{*from, *manifest};
  const json::string* name = find_string(*from, "name");
  const json::string* stated = find_string(*from, "version");
  if ((name != nullptr && *name != package) ||
      (stated != nullptr && *stated != manifest->version_text))
    reader.be_strange("the registry calls it by two names");
  manifest->entry["version"] = manifest->version_text;
  manifest->deprecated = is_truthy(find(*from, "deprecated"));
  reader.read_integrity();
  reader.read_edges();
  reader.copy_to_entry();
  reader.read_list("os", manifest->os);
  reader.read_list("cpu", manifest->cpu);
  reader.read_list("libc", manifest->libc);
  reader.read_engines();
  reader.read_bin();
  reader.read_scripts();
  reader.read_special();
  return manifest;
}

}  // namespace belljar::packages
