#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/task.h"
#include "packages/store_directory.h"

namespace belljar::packages {

// The store of one owner, which is not removed while the lock is held.
struct OwnerStore {
  std::string path;
  Fd lock;
};

// Stores of packages for one owner each, in owners/ of the store that is everybody's otherwise.
// Several processes may share them. Belongs to the loop.
class OwnerStores {
 public:
  explicit OwnerStores(std::string directory);  // nothing is made before open()

  // That of an owner, by any text that no other owner has: made if need be, and marked as used now.
  OwnerStore open(std::string_view owner);

  bool contains(std::string_view owner) const;

  // Removes those that were opened longest ago, never one that somebody has open, until there are
  // no more than `most`: how many went. A process that is killed meanwhile leaves no half store.
  Task<size_t> remove_oldest(size_t most);

  // The name of its directory: what is readable of the owner's, and a hash, so that it is short,
  // leads nowhere else and is nobody else's.
  static std::string name_of(std::string_view owner);

 private:
  std::string path_of(std::string_view name) const;
  size_t remove_now(size_t most) const;

  StoreDirectory directory_;  // of which tmp/ and locks/ are used
};

}  // namespace belljar::packages
