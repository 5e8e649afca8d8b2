#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "packages/kept_documents.h"
#include "packages/layer_store.h"
#include "packages/package_rules.h"
#include "packages/resolver.h"

namespace belljar::packages {

// A set of dependencies that a program wants.
struct WantedSet {
  std::vector<Dependency> dependencies;
  std::shared_ptr<const Lockfile> lockfile;  // exactly these packages instead; null: as of now
  std::string node_version;                  // "24.21.0"
  std::string libc = "glibc";                // or "musl"
  // Whose files install scripts find: what they build is for the same image only. "": this host's.
  std::string image = "";
};

struct FoundSet {
  std::shared_ptr<const Layer> layer;
  bool cached = false;                // it was there already
  std::vector<std::string> warnings;  // for people
  std::string script_output;          // what install scripts printed, if any ran
};

// From a set of dependencies to a directory with all its packages: one that is there already, or a
// new one, of packages that are there already or are fetched. Belongs to the loop; the directory
// may be shared by several processes.
class PackageSets {
 public:
  // npm, in a sandbox. May be asked after whoever gave it has gone, if somebody else wants the
  // same.
  struct Npm {
    // Finds out what a set means, for one that resolve() is not sure of.
    std::function<Task<Lockfile>(const WantedSet& wanted, InstallProgress progress)> resolve;
    RunScripts run_scripts;
  };

  // Names of packages that somebody may have meant by one that does not exist. May be empty.
  using NearNames = std::function<Task<std::vector<std::string>>(std::string name)>;

  // The references must outlive it.
  PackageSets(asio::any_io_executor executor, Registry& registry, const Clock& clock,
              const std::string& directory, PackageRules rules, NearNames near_names);

  // Errors are those of resolve(), Registry::download() and unpack_tarball(), and what `npm`
  // throws.
  Task<FoundSet> get(WantedSet wanted, Npm npm, InstallProgress progress);

  // A package of which the registry has not said yet what it is, or "".
  std::string waiting_for() const { return waiting_.empty() ? "" : *waiting_.begin(); }

  // The lockfile of a set that was found here lately, by the SHA-256 of its text.
  Task<std::optional<std::string>> lockfile(std::string sha256);

  LayerStore& layers() { return layers_; }

  // Reads the sets that are kept again, one an hour, and has damaged ones built again when they are
  // wanted. Does not end by itself.
  Task<> scrub();
  Task<> scrub_next();

  // Removes what exceeds the operator's bound, and what is forgotten.
  Task<PruneResult> prune();
  Task<PruneResult> prune(uint64_t disk);

  // To be awaited before destruction.
  Task<> stop();

 private:
  std::string key_of_set(const WantedSet& wanted, const LayerTarget& target);
  struct Notes;
  Task<LayerRecipe> find_recipe(WantedSet wanted, LayerTarget target, Npm npm,
                                InstallProgress progress, std::shared_ptr<Notes> notes);
  Task<Lockfile> resolve_set(const WantedSet& wanted, const LayerTarget& target, const Npm& npm,
                             const InstallProgress& progress, std::vector<std::string>& warnings);
  std::vector<std::string> without_scripts(const LayerRecipe& recipe) const;
  Task<std::shared_ptr<const Document>> document(std::string name);
  Task<std::string> describe_missing(std::string name);
  void check_denied(const Lockfile& lockfile) const;
  void check_all_kept(const LayerRecipe& recipe) const;
  Task<> keep_lockfile(const Layer& layer);
  Task<> tidy();
  std::optional<std::string> read_lockfile(const std::string& sha256) const;

  Registry& registry_;
  const Clock& clock_;
  std::string path_;
  PackageRules rules_;
  NearNames near_names_;
  std::multiset<std::string> waiting_;
  std::string last_scrubbed_;  // the key of the set
  KeptDocuments documents_;
  net::ConnectionPool connections_;
  StoreDirectory directory_;
  PackageStore packages_;
  LayerStore layers_;
  TaskGroup tasks_;
};

}  // namespace belljar::packages
