#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/beneath.h"

namespace belljar::files {

class Watches;

// What an entry was when it was looked at. The times are nanoseconds since 1970 that wrap around
// outside of 1678 to 2262: good for telling whether something has changed.
struct Stamp {
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t mtime = 0;
  int64_t ctime = 0;
  Type type = Type::file;
  bool linked = false;  // a file with further names, in the tree or elsewhere

  // Directories are what is in them, so they all count as the same.
  bool same_as(const Stamp& other) const;
};

struct Folder;

struct Entry {
  std::string name;
  Stamp stamp;
  std::unique_ptr<Folder> folder = nullptr;  // of a directory
};

struct Folder {
  Folder* parent = nullptr;
  std::string name;
  uint32_t depth = 0;
  uint64_t inode = 0;
  std::vector<Entry> entries = {};  // by name

  std::string path() const;  // "" for the root
  // The first entry whose name is not less, looked for from position `from` on.
  size_t position(std::string_view wanted, size_t from = 0) const;
  Entry* find(std::string_view wanted);
};

// A name in a folder that may have changed.
struct Touched {
  std::string name;
  bool appeared;  // a directory of that name may be another one than before: read all of it
};

// A picture of a directory tree in memory, and how it is brought up to date. Each difference that
// is found is told to `changed`, once, with what the entry was before (nullptr: it was not there).
// Blocks; knows nothing of when to look.
class Tree {
 public:
  struct Limits {
    size_t entries = 200'000;
    uint32_t depth = 128;
  };
  using Changed =
      std::function<void(const Folder& folder, const std::string& name, const Stamp* before)>;

  Tree(Limits limits, Changed changed) : limits_{limits}, changed_{std::move(changed)} {}

  // Compares everything with the directory open at `root` (O_RDONLY). With `watches`, each folder
  // is watched before it is read.
  void rescan(int root, Watches* watches);

  // Looks only at some names of one folder; the names are sorted and differ. False if that was not
  // possible and a rescan is needed. A folder that is not at its place any more is left alone: its
  // parent has been touched as well.
  bool look_again(int root, Watches* watches, Folder& folder, const std::vector<Touched>& names);

  // Looks at all files with several names: writing to one of them changes all of them.
  bool look_again_at_links(int root, Watches* watches);

  // The tree is gone.
  void clear();

  const Stamp* find(std::string_view path);
  uint64_t root_inode() const { return root_.inode; }
  size_t size() const { return size_; }
  bool truncated() const { return truncated_; }  // beyond a limit there is more
  int64_t newest_ctime() const { return newest_ctime_; }

 private:
  void read(Folder& folder, int fd, Watches* watches);
  void update(Folder& folder, int fd, const std::vector<Touched>& names, Watches* watches);
  void descend(Folder& folder, Entry& entry, int fd, Watches* watches);
  void replace(Folder& folder, Entry& entry, const Stamp& now, Watches* watches);
  void remove(Folder& folder, Entry& entry, Watches* watches);
  void remove_content(Folder& folder, Watches* watches);
  std::optional<Stamp> look(int fd, const std::string& name);

  Limits limits_;
  Changed changed_;
  Folder root_;
  size_t size_ = 0;
  size_t linked_ = 0;
  bool truncated_ = false;
  int64_t newest_ctime_ = 0;
};

// True if the tree has more than `count` entries; looks at no more than that.
bool has_more_entries_than(int root, size_t count);

}  // namespace belljar::files
