#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "files/directory.h"

namespace belljar::tools {

// Wakes up when something in a set of folders changes (inotify). It says that, not what: whoever is
// woken looks for himself, so lost and invented events do no harm. No path is followed to set a
// watch.
class FolderWatch {
 public:
  FolderWatch();  // Error if the kernel has no more of them

  Fd events() const;  // readable once something has changed

  // Watches the directory and these folders in it, as many as it may, and no others. True if some
  // were not watched before: then what is in them may have changed unseen.
  bool set(const files::Directory& directory, const std::vector<std::string>& folders);

  // Forgets what has happened so far, except if there is more of it than one would want to read.
  void drain();

 private:
  void add(const files::Directory& folder, std::set<int>& watches);

  Fd queue_;
  std::set<int> watches_;
};

}  // namespace belljar::tools
