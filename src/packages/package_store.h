#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "packages/lockfile.h"
#include "packages/registry.h"
#include "packages/shared_work.h"
#include "packages/store_directory.h"
#include "packages/tree_manifest.h"

namespace belljar::packages {

// Packages as the registry publishes them, unpacked, one directory per integrity: whatever their
// name and however many trees they are part of, they are downloaded and stored once. Belongs to the
// loop; several processes may use one directory.
//
// Nothing is flushed to the disk: waiting for that takes longer than everything else, and what a
// power failure damages is found by its hash when a process first uses it.
class PackageStore {
 public:
  PackageStore(StoreDirectory& directory, Registry& registry, asio::any_io_executor executor);

  // Where the package is: "<hexadecimal SHA-512>", or "<algorithm>-<hexadecimal>" of a weaker one.
  // Error{invalid} without a usable integrity.
  static std::string id_of(const std::string& integrity);

  bool has(const std::string& id) const;

  // The packages that are not in the store, each once. Those in bundles are nobody's own.
  std::vector<LockedPackage> missing(const std::vector<LockedPackage>& packages) const;

  // Downloads and unpacks what is missing, several at once, each one once however many callers want
  // it. Errors are those of Registry::download() and unpack_tarball(), and Error{exhausted} if the
  // disk is full. What has been unpacked by then stays.
  Task<> fetch(std::vector<LockedPackage> packages, InstallProgress progress);

  // Makes sure that a package of the store is what it was when it was unpacked. The first time in
  // this process every file is read; a damaged package is taken out of the store. False then.
  Task<bool> check(std::string id);

  // The next check() reads it again.
  void distrust(const std::string& id) { sound_.erase(id); }

  // Takes it out of the store; trees that share its files keep them.
  Task<> discard(std::string id);

  Task<> stop();  // to be awaited before the destructor

 private:
  struct Tally;
  Task<> fetch_missing(const LockedPackage& package, Tally& tally);
  Task<> download(LockedPackage package, std::string id);
  Task<Fd> tarball_of(const LockedPackage& package);
  Task<std::string> published_address(const LockedPackage& package);

  StoreDirectory& directory_;
  Registry& registry_;
  SharedWork work_;
  net::ConnectionPool connections_;
  std::set<std::string> sound_;  // what this process has unpacked or checked
};

// What is written beside the files of a package. Error if it is not there or damaged. Blocks.
TreeManifest read_content_manifest(const StoreDirectory& directory, const std::string& id);

}  // namespace belljar::packages
