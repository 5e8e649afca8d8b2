#pragma once

#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "packages/layer_builder.h"
#include "packages/package_store.h"

namespace belljar::packages {

// A layer that is in use: as long as this lives nobody removes it.
struct Layer {
  // Its node_modules, O_PATH: one or two, the second of which shows where the first has nothing.
  std::vector<Fd> directories;
  std::shared_ptr<const LayerInfo> info;  // what it is
  std::shared_ptr<const std::string> lockfile;
  Fd lock;
  Fd base_lock;
};

struct LayerSummary {
  LayerInfo info;
  std::time_t last_used = 0;
  bool in_use = false;
};

struct StoreUsage {
  uint64_t layers = 0;
  uint64_t disk_bytes = 0;  // files that layers share count once
};

struct PruneResult {
  uint64_t removed_layers = 0;
  uint64_t removed_contents = 0;
  StoreUsage before;
  StoreUsage after;  // may be above what was asked for, if the rest is in use
};

struct LayerFiles;

// node_modules trees ready to be mounted, each built once. A layer is never changed: another one
// under the same key takes its place, and whoever uses the old one keeps it. Belongs to the loop;
// several processes may use one directory.
class LayerStore {
 public:
  using Resolve = std::function<Task<LayerRecipe>(const InstallProgress& progress)>;

  LayerStore(StoreDirectory& directory, PackageStore& packages, asio::any_io_executor executor);

  // The layer, marked as used now; null if there is none. The first time in this process all of it
  // is read and compared with its manifest; a damaged one is taken away, and null.
  Task<std::shared_ptr<const Layer>> open(std::string key);

  // The layer, if need be by asking `resolve` what it consists of and making it. One that was
  // resolved before `not_before` (seconds since 1970) is made again. However many callers and
  // processes want it, it is made once, and all callers get the progress; the last caller that is
  // cancelled ends the work. Errors are those of `resolve` and make().
  Task<std::shared_ptr<const Layer>> ensure(std::string key, Resolve resolve,
                                            InstallProgress progress, int64_t not_before = 0);

  // Fetches what the store lacks, builds the layer and publishes it. If the same lockfile is there
  // under that key already, only its time of resolution changes.
  Task<> make(std::string key, LayerRecipe recipe, InstallProgress progress);

  // Reads the whole layer again: what is wrong with it, or "". Nothing if there is none. A damaged
  // one is taken away, and its packages are looked at before they are used again.
  Task<std::optional<std::string>> verify(std::string key);

  // The latest used first.
  Task<std::vector<LayerSummary>> list();
  Task<StoreUsage> usage();

  // False if there is none. Error{denied} if it is in use.
  Task<bool> remove(std::string key);

  // Removes what was not used for longest until the store takes no more than that, never what is in
  // use; and packages that no layer needs any more, unless somebody installs just now.
  Task<PruneResult> prune(uint64_t max_disk_bytes);

  Task<> stop();  // to be awaited before the destructor

 private:
  struct Known {  // a layer that has been read and found sound
    uint64_t inode;
    uint64_t base_inode;  // 0 if it stands alone
    std::shared_ptr<const LayerInfo> info;
    std::shared_ptr<const std::string> lockfile;
  };

  Task<> install(std::string key, Resolve resolve, int64_t not_before,
                 const InstallProgress& progress);
  Task<> fetch_all(const LayerRecipe& recipe, const InstallProgress& progress);
  Task<> check_one(std::string id);
  Task<bool> renew(const std::string& key, const LayerRecipe& recipe);
  Task<Fd> wait_for_lock(std::string name, StoreDirectory::Lock how,
                         const InstallProgress& progress);
  Task<std::string> examine(std::string key);
  Task<> examine_quietly(std::string key);
  Task<std::string> examine_base(std::string id);
  Task<std::string> find_damage_in(int directory, const std::string& key, LayerFiles& layer);
  bool is_sound_base(const std::string& id) const;
  void remember(const std::string& key, uint64_t inode, LayerInfo info, std::string lockfile);
  Task<> clean_once();
  std::shared_ptr<const Layer> use(const std::string& key, Fd& directory) const;

  StoreDirectory& directory_;
  PackageStore& packages_;
  SharedWork work_;
  std::map<std::string, Known> known_;
  std::map<std::string, uint64_t> sound_bases_;  // that have been read or made, with their inodes
  bool is_clean_ = false;
};

}  // namespace belljar::packages
