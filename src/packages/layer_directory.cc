#include "packages/layer_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/id.h"
#include "base/log.h"
#include "base/posix.h"
#include "base/sha256.h"
#include "packages/beneath.h"
#include "packages/layer_base.h"

namespace belljar::packages {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestText = 256u << 20;
constexpr std::time_t kTouchEvery = 60;
constexpr int kTries = 1000;

std::string read_text(int directory, const char* name) {
  const Fd file{sys(open_beneath(directory, name, O_RDONLY), "open {} of a layer", name)};
  return read_to_end(file.get(), name, kLargestText);
}

std::string hash_of(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.finish();
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_retired(const std::string& name) {
  return !is_layer_key(name);
}

Fd open_to_use(const std::string& path) {
  // Another layer may take its place, or nothing, between opening and locking; and whoever asks if
  // it is in use has it for a moment.
  for (int tries = 0; tries < kTries; ++tries) {
    Fd directory{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!directory) {
      if (errno != ENOENT) fail_errno(errno, "open " + path);
      return directory;
    }
    struct stat opened {};
    struct stat there {};
    sys(::fstat(directory.get(), &opened), "look at {}", path);
    if (::flock(directory.get(), LOCK_SH | LOCK_NB) == 0 && ::stat(path.c_str(), &there) == 0 &&
        is_same(opened, there))
      return directory;
  }
  return Fd{};
}

}  // namespace

Fd open_layer_directory(const StoreDirectory& store, const std::string& key) {
  return open_to_use(store.layer(key));
}

Fd open_base_directory(const StoreDirectory& store, const std::string& id) {
  return open_to_use(store.tree(id));
}

Fd lock_alone(const std::string& path) {
  Fd directory{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (directory && ::flock(directory.get(), LOCK_EX | LOCK_NB) == 0) return directory;
  return Fd{};
}

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{path, error})
    names.push_back(entry.path().filename().string());
  return names;
}

void touch_layer(int directory) {
  struct stat status {};
  if (::fstat(directory, &status) != 0) return;
  if (std::time(nullptr) - status.st_mtim.tv_sec < kTouchEvery) return;
  ::futimens(directory, nullptr);  // at worst it is taken for older than it is
}

LayerFiles read_layer(int directory, const std::string& key) {
  LayerFiles layer;
  layer.info = LayerInfo::parse(read_text(directory, "manifest.json"));
  layer.lockfile = read_text(directory, "package-lock.json");
  const std::string list = read_text(directory, "file-list");
  if (layer.info.key != key || hash_of(layer.lockfile) != layer.info.lockfile_sha256 ||
      hash_of(list) != layer.info.file_list_sha256)
    fail(Code::unavailable, "its manifest does not fit");
  layer.files = TreeManifest::parse(list);
  return layer;
}

uint64_t inode_of(int directory) {
  struct stat status {};
  sys(::fstat(directory, &status), "look at a layer");
  return status.st_ino;
}

void retire_layer(const StoreDirectory& store, const std::string& key, uint64_t inode) {
  const std::string path = store.layer(key);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || status.st_ino != inode) return;
  const std::string retired = path + "." + random_hex(8);
  if (::rename(path.c_str(), retired.c_str()) != 0 && errno != ENOENT)
    fail_errno(errno, "remove " + path);
  delete_retired(store);
}

void delete_retired(const StoreDirectory& store) {
  for (const std::string& name : names_in(store.path() + "/layers")) {
    if (!is_retired(name)) continue;
    const Fd lock = lock_alone(store.layer(name));
    if (!lock) continue;
    if (const auto away = store.take_away(store.layer(name))) remove_tree(*away);
  }
}

Removal remove_layer(const StoreDirectory& store, const std::string& key) {
  const std::string path = store.layer(key);
  const Fd lock = lock_alone(path);
  if (!lock) return ::access(path.c_str(), F_OK) == 0 ? Removal::in_use : Removal::absent;
  const auto away = store.take_away(path);
  if (!away) return Removal::absent;
  remove_tree(*away);
  return Removal::removed;
}

std::vector<LayerSummary> list_layers(const StoreDirectory& store) {
  std::vector<LayerSummary> layers;
  for (const std::string& name : names_in(store.path() + "/layers")) {
    if (is_retired(name)) continue;
    const std::string path = store.layer(name);
    LayerSummary summary;
    struct stat status {};
    try {
      const Fd directory{sys(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "open")};
      sys(::fstat(directory.get(), &status), "look at {}", path);
      summary.info = LayerInfo::parse(read_text(directory.get(), "manifest.json"));
    } catch (const Error& error) {
      log::warning("the layer {} cannot be read: {}", name, error.what());
      continue;
    }
    summary.info.key = name;
    summary.last_used = status.st_mtim.tv_sec;
    summary.in_use = !lock_alone(path);
    layers.push_back(std::move(summary));
  }
  std::sort(layers.begin(), layers.end(), [](const LayerSummary& a, const LayerSummary& b) {
    return a.last_used != b.last_used ? a.last_used > b.last_used : a.info.key < b.info.key;
  });
  return layers;
}

StoreUsage usage_of(const std::vector<LayerSummary>& layers) {
  StoreUsage usage;
  std::set<std::string_view> counted;
  for (const LayerSummary& layer : layers) {
    ++usage.layers;
    usage.disk_bytes += layer.info.own_disk_bytes;
    for (const LayerInfo::Package& package : layer.info.packages)
      if (counted.insert(package.content).second) usage.disk_bytes += package.disk_bytes;
    if (counted.insert(layer.info.base).second) usage.disk_bytes += layer.info.base_disk_bytes;
  }
  return usage;
}

void delete_unreadable(const StoreDirectory& store) {
  for (const std::string& name : names_in(store.path() + "/layers")) {
    if (is_retired(name)) continue;
    try {
      const Fd directory = open_directory(store.layer(name));
      LayerInfo::parse(read_text(directory.get(), "manifest.json"));
    } catch (const Error& error) {
      if (remove_layer(store, name) == Removal::removed)
        log::info("the layer {} was removed: {}", name, error.what());
    }
  }
}

uint64_t delete_unused_contents(const StoreDirectory& store) {
  std::set<std::string> used;
  std::set<std::string> bases;
  for (const std::string& name : names_in(store.path() + "/layers")) {
    try {
      const Fd directory = open_directory(store.layer(name));
      const LayerInfo info = LayerInfo::parse(read_text(directory.get(), "manifest.json"));
      for (const auto& package : info.packages) used.insert(package.content);
      bases.insert(info.base);
    } catch (const Error&) {
      continue;  // damaged: it will be made again, from new downloads if need be
    }
  }
  delete_unused_bases(store, bases);
  uint64_t deleted = 0;
  for (const std::string& id : names_in(store.path() + "/contents")) {
    if (used.contains(id)) continue;
    const auto away = store.take_away(store.content(id));
    if (!away) continue;
    remove_tree(*away);
    ++deleted;
  }
  return deleted;
}

}  // namespace belljar::packages
