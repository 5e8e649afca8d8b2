#include "packages/owner_stores.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/posix.h"
#include "base/sha256.h"

namespace belljar::packages {
namespace {

namespace fs = std::filesystem;

constexpr size_t kReadable = 32;  // letters of an owner's name in that of the directory
constexpr size_t kHash = 32;      // hexadecimal digits
constexpr int kTries = 10'000;

std::string lock_of(std::string_view name) {
  return fmt::format("owner-{}", name);
}

char readable(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '-';
}

struct Found {
  std::string name;
  fs::file_time_type used;
};

// The oldest first.
std::vector<Found> list_stores(const std::string& directory) {
  std::vector<Found> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{directory, error}) {
    const auto used = entry.last_write_time(error);
    if (!error) found.push_back({entry.path().filename().string(), used});
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.used < b.used; });
  return found;
}

}  // namespace

OwnerStores::OwnerStores(std::string directory) : directory_{std::move(directory)} {}

std::string OwnerStores::name_of(std::string_view owner) {
  Sha256 hash;
  hash.add(owner);
  std::string name{owner.substr(0, kReadable)};
  std::transform(name.begin(), name.end(), name.begin(), readable);
  return fmt::format("{}-{}", name, hash.finish().substr(0, kHash));
}

std::string OwnerStores::path_of(std::string_view name) const {
  return fmt::format("{}/owners/{}", directory_.path(), name);
}

bool OwnerStores::contains(std::string_view owner) const {
  struct stat status {};
  return ::stat(path_of(name_of(owner)).c_str(), &status) == 0;
}

OwnerStore OwnerStores::open(std::string_view owner) {
  directory_.prepare();
  const std::string name = name_of(owner);
  OwnerStore store{path_of(name), Fd{}};
  // Whoever removes it just now has the lock for two calls.
  for (int tries = 0; !store.lock; ++tries) {
    if (tries > kTries) fail(Code::unavailable, "the packages of {} are being removed", owner);
    if (auto lock = directory_.try_lock(lock_of(name), StoreDirectory::Lock::shared))
      store.lock = std::move(*lock);
    else
      std::this_thread::yield();
  }
  make_directories(store.path);
  sys(::utimensat(AT_FDCWD, store.path.c_str(), nullptr, 0), "mark {} as used", store.path);
  return store;
}

size_t OwnerStores::remove_now(size_t most) const {
  const std::vector<Found> stores = list_stores(path_of(""));
  size_t removed = 0;
  for (const Found& store : stores) {
    if (stores.size() - removed <= most) break;
    auto lock = directory_.try_lock(lock_of(store.name), StoreDirectory::Lock::exclusive);
    if (!lock) continue;
    const auto away = directory_.take_away(path_of(store.name));
    directory_.forget_lock(lock_of(store.name));
    lock.reset();
    if (away) remove_tree(*away);
    ++removed;
  }
  return removed;
}

Task<size_t> OwnerStores::remove_oldest(size_t most) {
  directory_.prepare();
  auto remove = [this, most] { return remove_now(most); };
  co_return co_await run_blocking(std::move(remove));
}

}  // namespace belljar::packages
