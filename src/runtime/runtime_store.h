#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "packages/semver.h"

namespace belljar::runtime {

// A Node.js in the store.
struct Installed {
  packages::Version version;
  std::string
      prefix;  // bin/node, bin/npm, bin/npx, lib/node_modules/npm: what a sandbox has in /usr/local
};

// The directory with one Node.js per version, shared by every belljar of the user. A version is
// there complete or not at all: it is built under a `.tmp-` name and renamed, and removed by
// renaming first. Whoever changes the store holds its lock; readers need none. Blocking, quick
// unless said otherwise.
class RuntimeStore {
 public:
  explicit RuntimeStore(std::string directory);  // made by the first try_lock()

  const std::string& directory() const { return directory_; }

  // Ascending. Reads the directory again only if it has changed: microseconds otherwise.
  const std::vector<Installed>& list();
  const Installed* find(const packages::Version& version);

  // The lock, or nothing while another task or process has it. Closing the descriptor lets it go.
  std::optional<Fd> try_lock();

  // With the lock: removes what a crashed install or removal left behind. May be called by
  // run_blocking().
  void clean() const;
  bool has_leftovers() const;

  // With the lock: a fresh directory to build a version in.
  std::string make_temporary();
  // With the lock: makes it visible under its version. Waits until the files are on the disk, so
  // that a power failure cannot leave a version with holes: may be called by run_blocking().
  Installed publish(const std::string& temporary, const packages::Version& version) const;
  // With the lock: the version is gone from the store; what is returned is to be deleted.
  std::optional<std::string> take_away(const packages::Version& version);

 private:
  std::string path_of(const packages::Version& version) const;

  std::string directory_;
  std::vector<Installed> installed_;
  std::optional<std::pair<long, long>> read_at_;  // the directory's mtime when it was read
};

// The version of the npm that belongs to an installed Node.js, or "".
std::string npm_version(const Installed& installed);

// Where belljar keeps what outlives it: $BELLJAR_DATA_DIR, $XDG_DATA_HOME/belljar or
// ~/.local/share/belljar. The store is its subdirectory `runtimes`.
std::string default_data_directory();

}  // namespace belljar::runtime
