#include "packages/package_document.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"

namespace belljar::packages {
namespace {

std::optional<PackageVersion> parse_package_version(const std::string& package,
                                                    std::string_view version,
                                                    const json::object& from) {
  const auto parsed = parse_version(version);
  const json::object* dist = find_object(from, "dist");
  if (!parsed || dist == nullptr) return std::nullopt;
  const json::string* tarball = find_string(*dist, "tarball");
  if (tarball == nullptr) return std::nullopt;
  PackageVersion result;
  result.name = package;
  result.version = *parsed;
  result.tarball = std::string{*tarball};
  if (const json::string* text = find_string(*dist, "integrity"))
    result.integrity = parse_integrity(*text);
  if (const json::string* text = find_string(*dist, "shasum"); text != nullptr && !result.integrity)
    result.integrity = integrity_from_shasum(*text);
  if (const json::object* engines = find_object(from, "engines"))
    if (const json::string* node = find_string(*engines, "node"))
      result.node_range = std::string{*node};
  const json::value* deprecated = find(from, "deprecated");
  result.deprecated = deprecated != nullptr && !deprecated->is_null() &&
                      *deprecated != json::value(false) && *deprecated != json::value("");
  return result;
}

bool is_name_part(std::string_view text) {
  if (text.empty() || text.front() == '.') return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~');
  });
}

}  // namespace

PackageDocument parse_document(const std::string& package, std::string_view body) {
  boost::system::error_code error;
  const json::value parsed = json::parse(body, error);
  return parse_document(package, parsed);
}

PackageDocument parse_document(const std::string& package, const json::value& from) {
  const json::object* root = from.if_object();
  const json::object* versions = root != nullptr ? find_object(*root, "versions") : nullptr;
  if (versions == nullptr)
    fail(Code::unavailable, "the registry's answer about {} is not a package document", package);
  PackageDocument document;
  document.name = package;
  if (const json::object* tags = find_object(*root, "dist-tags"))
    for (const auto& [tag, version] : *tags)
      if (version.is_string()) document.tags.emplace(tag, std::string{version.get_string()});
  for (const auto& [version, object] : *versions)
    if (object.is_object())
      if (auto parsed = parse_package_version(package, version, object.get_object()))
        document.versions.push_back(std::move(*parsed));
  std::sort(document.versions.begin(), document.versions.end(),
            [](const auto& a, const auto& b) { return a.version < b.version; });
  return document;
}

const PackageVersion* PackageDocument::find(std::string_view version) const {
  const auto sought = parse_version(version);
  if (!sought) return nullptr;
  const auto at = std::lower_bound(
      versions.begin(), versions.end(), *sought,
      [](const PackageVersion& one, const Version& than) { return one.version < than; });
  return at != versions.end() && at->version == *sought ? &*at : nullptr;
}

const PackageVersion* PackageDocument::select(std::string_view spec) const {
  std::optional<Version> exact = parse_version(spec);
  if (const auto tag = tags.find(spec); tag != tags.end()) exact = parse_version(tag->second);
  if (exact) {
    for (const PackageVersion& version : versions)
      if (version.version == *exact) return &version;
    return nullptr;
  }
  const auto range = Range::parse(spec);
  if (!range) return nullptr;
  // npm prefers `latest` where it fits, and what is not deprecated before what is.
  if (const auto tag = tags.find("latest"); tag != tags.end() && spec != "latest")
    if (const PackageVersion* latest = select("latest");
        latest != nullptr && !latest->deprecated && range->accepts(latest->version))
      return latest;
  const PackageVersion* best = nullptr;
  for (const PackageVersion& version : versions)
    if (range->accepts(version.version) &&
        (best == nullptr || best->deprecated || !version.deprecated))
      best = &version;
  return best;
}

bool is_package_name(std::string_view name) {
  if (name.size() > 214) return false;
  // npm itself refuses these.
  if (name.starts_with('_') || name == "node_modules" || name == "favicon.ico") return false;
  if (!name.starts_with('@')) return is_name_part(name);
  const size_t slash = name.find('/');
  return slash != std::string_view::npos && is_name_part(name.substr(1, slash - 1)) &&
         is_name_part(name.substr(slash + 1));
}

}  // namespace belljar::packages
