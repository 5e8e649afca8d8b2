#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "files/directory.h"
#include "files/tree.h"
#include "files/watches.h"

namespace belljar::files {

struct Change {
  enum class Kind { created, updated, deleted };
  std::string path;  // relative to the tree; any bytes
  Kind kind = Kind::created;
  Type type = Type::file;  // of a deleted entry: what it was
  uint64_t size = 0;       // 0 for deleted entries and directories
};

std::string_view kind_name(Change::Kind kind);  // "created"

struct Changes {
  std::vector<Change> list;  // by path; an entry whose type changed is deleted, then created
  bool truncated = false;    // the tree is beyond the limits: there may be more
};

// Reports exactly what changed in a directory tree between two moments, whoever changed it.
//
//   ChangeTracker tracker{directory, "files"};
//   const ChangeTracker::Mark mark = tracker.mark();   // before the program starts
//   sleep_for(tracker.settle_time());                  // mostly zero
//   … run the program …
//   const Changes changes = tracker.changes(mark);
//
// An entry has changed if its type, inode, size, mtime or ctime has; a program cannot set a ctime.
// A rename is a deletion and a creation, of a directory with all that is in it. A directory is
// created or deleted, never updated. What was created and deleted in between is not reported.
// Several marks may be open at once; each costs memory for what changed since. No link is followed,
// no mount is crossed; a directory that cannot be read counts as unchanged.
//
// A small tree is read again each time. A large one is watched (watches.h) once it has been read,
// so that afterwards only what was touched is looked at; what the watches cannot see is said there
// and found by the next full scan. Programs should reach the tree by the same file system: whether
// changes through an overlay above it are noticed depends on the kernel (6.18 does), so set
// `watch_above` to kNever for such a tree where that is not certain.
//
// Blocks and is not thread-safe: one call at a time, by run_blocking() if the tree may be large.
class ChangeTracker {
 public:
  static constexpr size_t kNever = SIZE_MAX;
  struct Options {
    Tree::Limits limits = {};
    size_t watch_above = 500;  // entries
  };

  // A moment. Lets go of what it needs when it is destroyed; may outlive the tracker.
  class Mark {
   private:
    friend class ChangeTracker;
    explicit Mark(size_t position) : position_{std::make_shared<size_t>(position)} {}
    std::shared_ptr<const size_t> position_;  // in the journal
  };

  // The tree is what is called `name` in `parent` at the time of each look: a program may remove or
  // replace it, and everything in it is then deleted.
  ChangeTracker(Directory parent, std::string name, Options options);
  ChangeTracker(Directory parent, std::string name);
  // The tree is the directory itself.
  explicit ChangeTracker(Directory root);
  ChangeTracker(const ChangeTracker&) = delete;
  ChangeTracker& operator=(const ChangeTracker&) = delete;

  // Brings the picture up to date. mark() and changes() do it themselves.
  void refresh();
  Mark mark();
  Changes changes(const Mark& mark);

  // Makes the next look a full scan: for moments when exactness matters more than its time, such as
  // the end of a run that took much longer than a scan does.
  void distrust() { is_current_ = false; }

  // How long to wait after mark() before a program may start: before Linux 6.13, and on some file
  // systems still, a file that is written twice within one tick of the kernel's clock (1 to 10 ms)
  // gets the same ctime twice. Zero unless something was written just now.
  std::chrono::milliseconds settle_time() const;

  size_t size() const { return tree_.size(); }
  bool watching() const { return watches_ != nullptr; }

 private:
  struct Difference {
    std::string path;
    std::optional<Stamp> before;
  };

  Fd open_root() const;
  void rescan(int root);
  bool replay(int root);
  void note(const Folder& folder, const std::string& name, const Stamp* before);
  void forget_what_nobody_needs();

  Directory parent_;
  std::string name_;
  Options options_;
  Tree tree_;
  std::unique_ptr<Watches> watches_;
  bool may_watch_;
  bool is_current_ = false;  // apart from what the watches say
  std::vector<std::weak_ptr<const size_t>> marks_;
  std::deque<Difference> journal_;  // since the oldest open mark
  size_t journal_start_ = 0;
  bool journal_is_full_ = false;
};

}  // namespace belljar::files
