#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/fd.h"

namespace belljar::files {

struct Folder;

// Tells which names in which folders may have changed (inotify), so that only they are looked at
// again. The kernel collects; nothing is read until drain() is called, so a busy program costs
// nothing. What it does not see: writing to a file by another name of it that is outside of the
// watched folders, or gone again at the next look; a memory mapping before it is closed; and, with
// some kernels, writing by way of an overlay above the folders.
class Watches {
 public:
  struct Event {
    int watch;
    std::string name;
    bool appeared;  // created, or moved here
  };

  // Nothing if the user has no instance left.
  static std::unique_ptr<Watches> make();

  // Watches the directory open at `fd` for `folder`. Must come before its names are read. If the
  // kernel refuses, failed() is true from then on.
  void watch(Folder& folder, int fd);
  void forget(Folder& folder);

  bool failed() const { return failed_; }
  bool contains(const Folder& folder) const { return by_folder_.contains(&folder); }
  Folder* folder(int watch) const;  // nullptr if it is not watched any more

  // What has happened since the last call, sorted by watch and name, each name once. Nothing if the
  // kernel lost count or there is too much: look at everything.
  std::optional<std::vector<Event>> drain();

 private:
  explicit Watches(Fd inotify) : inotify_{std::move(inotify)} {}

  Fd inotify_;
  bool failed_ = false;
  std::unordered_map<int, Folder*> by_watch_;
  std::unordered_map<const Folder*, int> by_folder_;
};

}  // namespace belljar::files
