#include "packages/package_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "base/error.h"
#include "base/log.h"
#include "base/posix.h"
#include "packages/parallel.h"
#include "packages/store_files.h"
#include "packages/verify.h"

namespace belljar::packages {
namespace {

constexpr size_t kLargestManifest = 64u << 20;
constexpr size_t kAtOnce = 8;  // downloads
// Of one package, unpacked: more than any has that people use, less than fills a disk.
constexpr uint64_t kMostEntries = 50'000;
constexpr uint64_t kMostBytes = 512u << 20;
constexpr uint64_t kLargestTarball = 256u << 20;

// Unpacks it beneath tmp/ and gives it its name. Blocks.
void unpack_content(const StoreDirectory& store, int tarball, const std::string& id) {
  Temporary temporary{store.make_temporary()};
  const std::string files = temporary.path() + "/files";
  make_directory(files);
  const Fd directory = open_directory_to_read(files);
  TreeManifest manifest;
  UnpackOptions options;
  options.max_entries = kMostEntries;
  options.max_bytes = kMostBytes;
  std::map<std::string, UnpackedFile> found;  // a name may occur twice; the last one counts
  options.each = [&found](UnpackedFile file) { found.insert_or_assign(file.path, file); };
  unpack_tarball(tarball, directory.get(), options);
  for (auto& [path, file] : found) manifest.files.push_back(std::move(file));
  manifest.sort();
  write_new_file(temporary.path() + "/file-list", manifest.serialize());
  // A process that was quicker has made the same.
  if (store.publish(temporary.path(), store.content(id))) temporary.keep();
}

std::string title(const LockedPackage& package) {
  return package.name + " " + package.version;
}

}  // namespace

TreeManifest read_content_manifest(const StoreDirectory& directory, const std::string& id) {
  return TreeManifest::parse(read_file(directory.content(id) + "/file-list", kLargestManifest));
}

struct PackageStore::Tally {
  void say(const std::string& message) const {
    if (progress) progress(message);
  }
  size_t all;
  const InstallProgress& progress;
  size_t done = 0;
};

PackageStore::PackageStore(StoreDirectory& directory, Registry& registry,
                           asio::any_io_executor executor)
    : directory_{directory}, registry_{registry}, work_{std::move(executor)} {}

std::string PackageStore::id_of(const std::string& integrity) {
  const auto parsed = parse_integrity(integrity);
  const auto digest = parsed ? parse_base64(parsed->digest) : std::nullopt;
  if (!digest) fail(Code::invalid, "a package has no usable integrity");
  std::string id = parsed->algorithm == "sha512" ? "" : parsed->algorithm + "-";
  for (const unsigned char byte : *digest) id += fmt::format("{:02x}", byte);
  return id;
}

bool PackageStore::has(const std::string& id) const {
  struct stat status {};
  return ::stat((directory_.content(id) + "/file-list").c_str(), &status) == 0;
}

std::vector<LockedPackage> PackageStore::missing(const std::vector<LockedPackage>& packages) const {
  std::vector<LockedPackage> result;
  std::set<std::string> seen;
  for (const LockedPackage& package : packages) {
    if (package.in_bundle) continue;
    const std::string id = id_of(package.integrity);
    if (seen.insert(id).second && !has(id)) result.push_back(package);
  }
  return result;
}

Task<> PackageStore::fetch(std::vector<LockedPackage> packages, InstallProgress progress) {
  const std::vector<LockedPackage> wanted = missing(packages);
  if (wanted.empty()) co_return;
  directory_.prepare();
  Tally tally{wanted.size(), progress};
  tally.say(fmt::format("downloading {} package{}", tally.all, tally.all == 1 ? "" : "s"));
  std::function<Task<>(size_t)> each = [this, &wanted, &tally](size_t i) {
    return fetch_missing(wanted[i], tally);
  };
  co_await in_parallel(wanted.size(), std::move(each), kAtOnce);
}

Task<> PackageStore::fetch_missing(const LockedPackage& package, Tally& tally) {
  std::string id = id_of(package.integrity);
  const SharedWork::Work work = [this, package, id](const InstallProgress&) {
    return download(package, id);
  };
  const InstallProgress silent;  // of one of many
  co_await work_.join(id, work, silent);
  ++tally.done;
  if (tally.done % 10 == 0 && tally.done < tally.all)
    tally.say(fmt::format("downloaded {} of {} packages", tally.done, tally.all));
}

Task<> PackageStore::download(LockedPackage package, std::string id) {
  if (has(id)) co_return;
  try {
    const Fd tarball = co_await tarball_of(package);
    auto unpack = [this, &tarball, &id] { unpack_content(directory_, tarball.get(), id); };
    co_await run_blocking(unpack);
  } catch (const Error& error) {
    fail_storing(error, "install " + title(package), directory_.path());
  }
  sound_.insert(std::move(id));
}

// Only the registry says where it is: a lockfile may be anybody's.
Task<Fd> PackageStore::tarball_of(const LockedPackage& package) {
  PackageVersion version;
  version.name = package.name;
  version.version = parse_version(package.version).value_or(Version{});
  version.tarball = package.resolved;
  version.integrity = parse_integrity(package.integrity);
  const DownloadProgress bound = [&package](uint64_t bytes, uint64_t total) {
    if (std::max(bytes, total) > kLargestTarball)
      fail(Code::exhausted, "{} has more than {}", title(package), format_bytes(kLargestTarball));
  };
  const bool is_guess = version.tarball.empty();
  if (is_guess) version.tarball = co_await registry_.usual_tarball(package.name, package.version);
  try {
    co_return co_await registry_.download(version, directory_.own(), bound, &connections_);
  } catch (const Error& error) {
    const bool is_elsewhere = error.code() == Code::not_found || error.code() == Code::denied;
    if (!is_guess || !is_elsewhere) throw;
  }
  version.tarball = co_await published_address(package);
  co_return co_await registry_.download(version, directory_.own(), bound, &connections_);
}

Task<std::string> PackageStore::published_address(const LockedPackage& package) {
  std::string text =
      co_await registry_.raw_document(package.name, DocumentDetail::abbreviated, &connections_);
  auto parse = [&package, &text] { return parse_document(package.name, text); };
  const PackageDocument document = co_await run_blocking(parse);
  const PackageVersion* published = document.find(package.version);
  if (published == nullptr)
    fail(Code::not_found, "the registry does not have {}, which the lockfile names",
         title(package));
  const auto& announced = published->integrity;
  const auto wanted = parse_integrity(package.integrity);
  if (announced && wanted && announced->algorithm == wanted->algorithm &&
      announced->digest != wanted->digest)
    fail(Code::denied,
         "the registry has another {} for it than the lockfile: it is not the same package",
         announced->algorithm);
  co_return published->tarball;
}

Task<bool> PackageStore::check(std::string id) {
  if (sound_.contains(id)) co_return true;
  auto read = [this, &id] { return read_content_manifest(directory_, id); };
  std::string damage;
  try {
    const TreeManifest manifest = co_await run_blocking(read);
    const Fd files = open_directory(directory_.content(id) + "/files");
    damage = co_await find_damage(manifest, files.get());
  } catch (const Error& error) {
    damage = error.what();
  }
  if (damage.empty()) {
    sound_.insert(std::move(id));
    co_return true;
  }
  log::warning("a package in the store is damaged and will be fetched again: {}: {}", id, damage);
  co_await discard(std::move(id));
  co_return false;
}

Task<> PackageStore::discard(std::string id) {
  sound_.erase(id);
  directory_.prepare();
  auto remove = [this, &id] {
    if (const auto away = directory_.take_away(directory_.content(id))) remove_tree(*away);
  };
  co_await run_blocking(remove);
}

Task<> PackageStore::stop() {
  co_await work_.stop();
}

}  // namespace belljar::packages
