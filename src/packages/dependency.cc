#include "packages/dependency.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "packages/package_document.h"
#include "packages/semver.h"

namespace belljar::packages {
namespace {

constexpr size_t kLongestSpec = 256;
constexpr size_t kShownLength = 60;

bool has_only(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(), [more](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || more.find(static_cast<char>(c)) != more.npos);
  });
}

// npm takes a word that ends like an archive for a file, even where a name or a version stands.
bool ends_like_an_archive(std::string_view text) {
  std::string lower{text};
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.ends_with(".tgz") || lower.ends_with(".tar.gz") || lower.ends_with(".tar");
}

bool is_dist_tag(std::string_view text) {
  return !text.empty() && std::isalnum(static_cast<unsigned char>(text.front())) &&
         has_only(text, "._-");
}

std::string quoted(std::string_view text) {
  const size_t length = utf8_prefix(text, kShownLength);
  const std::string shown = to_utf8(text.substr(0, length)) + (length < text.size() ? "…" : "");
  return json::serialize(json::value(shown));
}

}  // namespace

bool is_package_spec(std::string_view text) {
  // An empty range means any version, but whoever sends it has more likely forgotten one.
  if (text.find_first_not_of(' ') == text.npos || text.size() > kLongestSpec) return false;
  if (text.starts_with('-') || text.starts_with('.')) return false;
  if (ends_like_an_archive(text) || !has_only(text, " .<>=^~|*+_-")) return false;
  return is_dist_tag(text) || Range::parse(text).has_value();
}

void check_dependency(size_t index, const Dependency& dependency) {
  const auto& [name, version] = dependency;
  if (!is_package_name(name) || name.starts_with('-') || ends_like_an_archive(name))
    fail(Code::invalid,
         "argument \"dependencies[{}].name\" is {}; it must be the name of a package, such as "
         "\"lodash\" or \"@scope/name\"",
         index, quoted(name));
  if (!is_package_spec(version))
    fail(Code::invalid,
         "argument \"dependencies[{}].version\" is {}; it must be a version, a range or a dist-tag "
         "of the registry, such as \"1.2.3\", \"^1.2.0\" or \"latest\": no address, path, file or "
         "alias",
         index, quoted(version));
}

void check_dependencies(const std::vector<Dependency>& dependencies) {
  if (dependencies.size() > kMaxDependencies)
    fail(Code::invalid,
         "argument \"dependencies\" is an array of {}; it must have at most {} items",
         dependencies.size(), kMaxDependencies);
  std::map<std::string_view, size_t> seen;
  for (size_t i = 0; i < dependencies.size(); ++i) {
    check_dependency(i, dependencies[i]);
    const auto [first, is_new] = seen.emplace(dependencies[i].name, i);
    if (!is_new)
      fail(Code::invalid,
           "argument \"dependencies[{}].name\" is {}; it must not repeat dependencies[{}].name", i,
           quoted(dependencies[i].name), first->second);
  }
}

}  // namespace belljar::packages
