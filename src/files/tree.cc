#include "files/tree.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <unordered_set>

#include "base/error.h"
#include "base/fd.h"
#include "files/watches.h"

namespace belljar::files {

namespace {

bool by_name(const Entry& a, const Entry& b) {
  return a.name < b.name;
}

int64_t nanoseconds(const timespec& time) {
  // Unsigned, because a program may give its file a time in the year 30,000.
  return static_cast<int64_t>(static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u +
                              static_cast<uint64_t>(time.tv_nsec));
}

// Opens a directory. An error that says something about the tree is no Error: the caller leaves it
// out.
Fd open_folder(int directory, const std::string& name) {
  Fd folder{open_beneath(directory, name.c_str(), kFolder)};
  if (!folder && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
    sys(-1, "open a directory");
  }
  return folder;
}

uint64_t inode_of(int fd) {
  struct stat status {};
  sys(::fstat(fd, &status), "look at a directory");
  return status.st_ino;
}

// All at once: one by one would cost the square of what a program can delete.
void rearrange(std::vector<Entry>& entries, std::vector<Entry> added,
               const std::vector<size_t>& removed) {
  for (const size_t i : removed) entries[i].name.clear();
  if (!removed.empty()) {
    std::erase_if(entries, [](const Entry& entry) { return entry.name.empty(); });
  }
  if (entries.empty()) {
    entries = std::move(added);
  } else if (!added.empty()) {
    std::move(added.begin(), added.end(), std::back_inserter(entries));
    std::sort(entries.begin(), entries.end(), by_name);
  }
}

template <class Function>
void for_each_folder(Folder& folder, const Function& function) {
  function(folder);
  for (Entry& entry : folder.entries) {
    if (entry.folder) for_each_folder(*entry.folder, function);
  }
}

}  // namespace

bool Stamp::same_as(const Stamp& other) const {
  if (type != other.type) return false;
  return type == Type::directory || (inode == other.inode && size == other.size &&
                                     mtime == other.mtime && ctime == other.ctime);
}

std::string Folder::path() const {
  if (parent == nullptr) return "";
  const std::string above = parent->path();
  return above.empty() ? name : above + "/" + name;
}

size_t Folder::position(std::string_view wanted, size_t from) const {
  // Mostly all names are asked for in order.
  if (from < entries.size() && entries[from].name == wanted) return from;
  const auto found =
      std::lower_bound(entries.begin() + static_cast<ptrdiff_t>(from), entries.end(), wanted,
                       [](const Entry& entry, std::string_view text) { return entry.name < text; });
  return static_cast<size_t>(found - entries.begin());
}

Entry* Folder::find(std::string_view wanted) {
  const size_t at = position(wanted);
  return at < entries.size() && entries[at].name == wanted ? &entries[at] : nullptr;
}

std::optional<Stamp> Tree::look(int fd, const std::string& name) {
  struct stat status {};
  if (::fstatat(fd, name.c_str(), &status, kLook) != 0) {
    // Without memory nothing is known of it; everything else means that it is not there for us.
    if (errno == ENOMEM) fail_errno(errno, "look at " + name);
    return std::nullopt;
  }
  Stamp stamp;
  stamp.type = type_of(status.st_mode);
  stamp.inode = status.st_ino;
  if (stamp.type == Type::directory) return stamp;
  stamp.size = static_cast<uint64_t>(status.st_size);
  stamp.mtime = nanoseconds(status.st_mtim);
  stamp.ctime = nanoseconds(status.st_ctim);
  stamp.linked = status.st_nlink > 1;
  newest_ctime_ = std::max(newest_ctime_, stamp.ctime);
  return stamp;
}

void Tree::rescan(int root, Watches* watches) {
  truncated_ = false;
  newest_ctime_ = 0;
  read(root_, root, watches);
}

void Tree::read(Folder& folder, int fd, Watches* watches) {
  if (watches != nullptr) watches->watch(folder, fd);
  folder.inode = inode_of(fd);
  std::vector<Name> names;
  const size_t others = size_ - folder.entries.size();
  if (!read_names(fd, limits_.entries - std::min(others, limits_.entries), names)) {
    truncated_ = true;
  }
  std::vector<Touched> touched;
  touched.reserve(names.size());
  for (Name& name : names) touched.push_back({std::move(name.name), true});
  const auto less = [](const Touched& a, const Touched& b) { return a.name < b.name; };
  std::sort(touched.begin(), touched.end(), less);
  // A name that was there before and is not listed now is looked for too.
  const size_t listed = touched.size();
  size_t at = 0;
  for (const Entry& entry : folder.entries) {
    while (at < listed && touched[at].name < entry.name) ++at;
    if (at == listed || touched[at].name != entry.name) touched.push_back({entry.name, true});
  }
  if (touched.size() > listed) std::sort(touched.begin(), touched.end(), less);
  update(folder, fd, touched, watches);
}

void Tree::update(Folder& folder, int fd, const std::vector<Touched>& names, Watches* watches) {
  std::vector<Entry> added;
  std::vector<size_t> removed;
  std::vector<std::string_view> deeper;
  // All are looked at first: a look that fails must not leave half an update.
  std::vector<std::optional<Stamp>> stamps;
  stamps.reserve(names.size());
  for (const Touched& touched : names) stamps.push_back(look(fd, touched.name));
  size_t at = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    const Touched& touched = names[i];
    const std::optional<Stamp>& now = stamps[i];
    at = folder.position(touched.name, at);
    const bool known = at < folder.entries.size() && folder.entries[at].name == touched.name;
    Entry* entry = known ? &folder.entries[at] : nullptr;
    if (now && now->type == Type::directory) {
      const bool watched = watches != nullptr && known && entry->folder != nullptr &&
                           watches->contains(*entry->folder);
      if (touched.appeared || !watched) deeper.push_back(touched.name);
    }
    if (known && now) {
      replace(folder, *entry, *now, watches);
    } else if (known) {
      remove(folder, *entry, watches);
      removed.push_back(at);
    } else if (now && size_ >= limits_.entries) {
      truncated_ = true;
    } else if (now) {
      changed_(folder, touched.name, nullptr);
      ++size_;
      linked_ += now->linked ? 1 : 0;
      added.push_back({touched.name, *now});
    }
    if (known) ++at;
  }
  rearrange(folder.entries, std::move(added), removed);
  for (const std::string_view name : deeper) {
    if (Entry* entry = folder.find(name)) descend(folder, *entry, fd, watches);
  }
}

void Tree::descend(Folder& folder, Entry& entry, int fd, Watches* watches) {
  if (!entry.folder) {
    entry.folder = std::make_unique<Folder>();
    entry.folder->parent = &folder;
    entry.folder->name = entry.name;
    entry.folder->depth = folder.depth + 1;
  }
  if (entry.folder->depth >= limits_.depth) {
    truncated_ = true;
    return;
  }
  // One that cannot be opened (no permission, a mount point, gone since) stays as it was known.
  const Fd child = open_folder(fd, entry.name);
  if (child) read(*entry.folder, child.get(), watches);
}

void Tree::replace(Folder& folder, Entry& entry, const Stamp& now, Watches* watches) {
  if (!now.same_as(entry.stamp)) changed_(folder, entry.name, &entry.stamp);
  if (now.type != Type::directory && entry.folder) {
    remove_content(*entry.folder, watches);
    entry.folder.reset();
  }
  linked_ = linked_ + (now.linked ? 1 : 0) - (entry.stamp.linked ? 1 : 0);
  entry.stamp = now;
}

void Tree::remove(Folder& folder, Entry& entry, Watches* watches) {
  changed_(folder, entry.name, &entry.stamp);
  --size_;
  linked_ -= entry.stamp.linked ? 1 : 0;
  if (entry.folder) remove_content(*entry.folder, watches);
}

void Tree::remove_content(Folder& folder, Watches* watches) {
  for (Entry& entry : folder.entries) remove(folder, entry, watches);
  folder.entries.clear();
  if (watches != nullptr) watches->forget(folder);
}

void Tree::clear() {
  remove_content(root_, nullptr);
  root_.inode = 0;
  truncated_ = false;
}

bool Tree::look_again(int root, Watches* watches, Folder& folder,
                      const std::vector<Touched>& names) {
  const std::string path = folder.path();
  const Fd fd = open_folder(root, path.empty() ? "." : path);
  if (!fd) return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
  if (inode_of(fd.get()) == folder.inode) update(folder, fd.get(), names, watches);
  return true;
}

bool Tree::look_again_at_links(int root, Watches* watches) {
  if (linked_ == 0) return true;
  // A name that was the only one when it was looked at last may share its file with a new one.
  std::unordered_set<uint64_t> inodes;
  for_each_folder(root_, [&inodes](Folder& folder) {
    for (const Entry& entry : folder.entries) {
      if (entry.stamp.linked) inodes.insert(entry.stamp.inode);
    }
  });
  std::vector<std::pair<Folder*, std::vector<Touched>>> all;
  for_each_folder(root_, [&inodes, &all](Folder& folder) {
    std::vector<Touched> names;
    for (const Entry& entry : folder.entries) {
      const bool is_directory = entry.stamp.type == Type::directory;
      if (!is_directory && inodes.contains(entry.stamp.inode)) names.push_back({entry.name, false});
    }
    if (!names.empty()) all.emplace_back(&folder, std::move(names));
  });
  return std::all_of(all.begin(), all.end(), [this, root, watches](auto& touched) {
    return look_again(root, watches, *touched.first, touched.second);
  });
}

const Stamp* Tree::find(std::string_view path) {
  Folder* folder = &root_;
  while (folder != nullptr) {
    const size_t slash = path.find('/');
    Entry* entry = folder->find(path.substr(0, slash));
    if (entry == nullptr || slash == std::string_view::npos) {
      return entry != nullptr ? &entry->stamp : nullptr;
    }
    folder = entry->folder.get();
    path.remove_prefix(slash + 1);
  }
  return nullptr;
}

namespace {

bool exhausts(int folder, size_t& budget, int depth) {
  constexpr int kDeepest = 32;
  std::vector<Name> names;
  if (!read_names(folder, budget, names)) return true;
  budget -= names.size();
  if (depth == kDeepest) return false;
  return std::any_of(names.begin(), names.end(), [folder, &budget, depth](const Name& name) {
    if (name.kind != DT_DIR) return false;
    const Fd child = open_folder(folder, name.name);
    return child && exhausts(child.get(), budget, depth + 1);
  });
}

}  // namespace

bool has_more_entries_than(int root, size_t count) {
  const bool is_large = exhausts(root, count, 0);
  sys(::lseek(root, 0, SEEK_SET), "rewind a directory");
  return is_large;
}

}  // namespace belljar::files
