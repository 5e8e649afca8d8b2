#include "packages/layer_info.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/sha256.h"
#include "packages/lockfile.h"

namespace belljar::packages {
namespace {

// Part of every key: layers that another belljar made in another way are not taken for ours.
constexpr int kFormat = 2;

std::string hash_of(const json::value& what, const LayerTarget& target) {
  json::object canonical;
  canonical["format"] = kFormat;
  canonical["node"] = target.node_major;
  canonical["os"] = target.platform.os;
  canonical["cpu"] = target.platform.cpu;
  canonical["libc"] = target.platform.libc;
  canonical["what"] = what;
  Sha256 hash;
  hash.add(json::serialize(canonical));
  return hash.finish();
}

json::array to_json(std::vector<Dependency> dependencies) {
  std::sort(dependencies.begin(), dependencies.end(),
            [](const Dependency& a, const Dependency& b) { return a.name < b.name; });
  json::array list;
  for (const Dependency& dependency : dependencies)
    list.push_back(json::array{dependency.name, dependency.version});
  return list;
}

LayerInfo read_info(const json::object& from) {
  const auto text = [](const json::value& value) { return std::string{value.as_string()}; };
  const auto number = [](const json::value& value) { return value.to_number<uint64_t>(); };
  LayerInfo info;
  if (from.at("format").as_int64() != kFormat) fail(Code::unavailable, "of another format");
  info.key = text(from.at("key"));
  info.target.node_major = number(from.at("node"));
  info.target.platform = {text(from.at("os")), text(from.at("cpu")), text(from.at("libc"))};
  for (const json::value& pair : from.at("dependencies").as_array())
    info.dependencies.push_back({text(pair.as_array().at(0)), text(pair.as_array().at(1))});
  info.resolved_at = from.at("resolvedAt").as_int64();
  for (const json::value& package : from.at("packages").as_array()) {
    const json::array& fields = package.as_array();
    info.packages.push_back({text(fields.at(0)), text(fields.at(1)), number(fields.at(2))});
  }
  info.package_count = number(from.at("packageCount"));
  info.files = number(from.at("files"));
  info.bytes = number(from.at("bytes"));
  info.own_disk_bytes = number(from.at("ownDiskBytes"));
  info.own_files = number(from.at("ownFiles"));
  info.base = text(from.at("base"));
  info.base_disk_bytes = number(from.at("baseDiskBytes"));
  info.file_list_sha256 = text(from.at("fileListSha256"));
  info.lockfile_sha256 = text(from.at("lockfileSha256"));
  return info;
}

}  // namespace

std::string key_of(const std::vector<Dependency>& dependencies, const LayerTarget& target) {
  return hash_of(to_json(dependencies), target);
}

std::string key_of(const Lockfile& lockfile, const LayerTarget& target) {
  return hash_of(json::value(lockfile.serialize()), target);
}

bool is_layer_key(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string LayerInfo::serialize() const {
  json::object to;
  to["format"] = kFormat;
  to["key"] = key;
  to["node"] = target.node_major;
  to["os"] = target.platform.os;
  to["cpu"] = target.platform.cpu;
  to["libc"] = target.platform.libc;
  to["dependencies"] = to_json(dependencies);
  to["resolvedAt"] = resolved_at;
  json::array& list = to["packages"].emplace_array();
  for (const Package& package : packages)
    list.push_back(json::array{package.path, package.content, package.disk_bytes});
  to["packageCount"] = package_count;
  to["files"] = files;
  to["bytes"] = bytes;
  to["ownDiskBytes"] = own_disk_bytes;
  to["ownFiles"] = own_files;
  to["base"] = base;
  to["baseDiskBytes"] = base_disk_bytes;
  to["fileListSha256"] = file_list_sha256;
  to["lockfileSha256"] = lockfile_sha256;
  return json::serialize(to) + "\n";
}

LayerInfo LayerInfo::parse(std::string_view text) {
  try {
    return read_info(json::parse(text).as_object());
  } catch (const std::exception& error) {
    fail(Code::unavailable, "the manifest of a layer is damaged: {}", error.what());
  }
}

}  // namespace belljar::packages
