#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace belljar::packages {

// Where packages and layers are kept, shared by every belljar of the user:
//
//   contents/ID/{files/…, file-list}   one package, unpacked
//   trees/ID/{node_modules/…, file-list, packages}   what layers share, see layer_base.h
//   layers/KEY/{node_modules/…, package-lock.json, manifest.json, file-list}
//   locks/NAME                         flock(2), see try_lock()
//   tmp/RANDOM/…                       what one process is working on
//
// Whatever has its final name is complete: it is built in tmp/ and renamed. A process holds a lock
// on its own directory in tmp/ while it lives, so whoever finds one without a lock may delete it:
// nothing else is left by a process that was killed.
class StoreDirectory {
 public:
  explicit StoreDirectory(std::string path);  // nothing is made before prepare()
  ~StoreDirectory();
  StoreDirectory(const StoreDirectory&) = delete;
  StoreDirectory& operator=(const StoreDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string content(std::string_view id) const;
  std::string tree(std::string_view id) const;
  std::string layer(std::string_view key) const;

  // Makes what is missing, and this process's own directory in tmp/. To be called on the loop
  // before anything is written; quick, and nothing at all the second time.
  void prepare();

  // Deletes what processes that are gone have left in tmp/. May be called by run_blocking(), as
  // all of the following.
  void clean() const;

  // The process's own directory in tmp/, for files without a name.
  const std::string& own() const { return own_; }

  // A fresh directory in tmp/.
  std::string make_temporary() const;

  // Moves something into tmp/: its new name, which the caller deletes; nothing if it is not there.
  std::optional<std::string> take_away(const std::string& path) const;

  // Makes a finished directory visible. False if there is one of that name already, which is as
  // good: what is to be published is the same by its name.
  bool publish(const std::string& temporary, const std::string& path) const;

  enum class Lock { shared, exclusive };
  // The lock, or nothing while somebody else has it. Closing the descriptor lets it go.
  std::optional<Fd> try_lock(std::string_view name, Lock how) const;
  // With the exclusive lock: deletes its file, so that no files of old locks pile up.
  void forget_lock(std::string_view name) const;

 private:
  std::string path_;
  std::string own_;
  Fd own_lock_;
};

// Deletes a directory with all that is in it, or as much as can be.
void remove_tree(const std::string& path);

// A directory that is deleted unless it is kept.
class Temporary {
 public:
  explicit Temporary(std::string path) : path_{std::move(path)} {}
  ~Temporary() {
    if (!path_.empty()) remove_tree(path_);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const std::string& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  std::string path_;
};

}  // namespace belljar::packages
