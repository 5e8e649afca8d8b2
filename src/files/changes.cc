#include "files/changes.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <tuple>
#include <unordered_set>

#include "base/error.h"
#include "files/uri.h"

namespace belljar::files {

namespace {

// Bounds the memory of a mark that stays open while a program makes and removes files for hours.
constexpr size_t kLongestJournal = 1'000'000;

// The change between what an entry was and what it is; two for one that became another thing.
void report(const std::string& path, const std::optional<Stamp>& before, const Stamp* now,
            std::vector<Change>& list) {
  using Kind = Change::Kind;
  const auto add = [&path, &list](Kind kind, Type type, uint64_t size) {
    list.push_back({path, kind, type, size});
  };
  if (before && now != nullptr && before->same_as(*now)) return;
  if (before && now != nullptr && before->type == now->type) {
    add(Kind::updated, now->type, now->size);
    return;
  }
  if (before) add(Kind::deleted, before->type, 0);
  if (now != nullptr) add(Kind::created, now->type, now->size);
}

int64_t in_nanoseconds(const timespec& time) {
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::string_view kind_name(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::created: return "created";
    case Change::Kind::updated: return "updated";
    case Change::Kind::deleted: break;
  }
  return "deleted";
}

ChangeTracker::ChangeTracker(Directory parent, std::string name, Options options)
    : parent_{std::move(parent)},
      name_{std::move(name)},
      options_{options},
      tree_{options.limits, [this](const Folder& folder, const std::string& entry,
                                   const Stamp* before) { note(folder, entry, before); }},
      may_watch_{options.watch_above != kNever} {}

ChangeTracker::ChangeTracker(Directory parent, std::string name)
    : ChangeTracker{std::move(parent), std::move(name), Options{}} {}

ChangeTracker::ChangeTracker(Directory root) : ChangeTracker{std::move(root), "."} {}

void ChangeTracker::refresh() {
  const Fd root = open_root();
  // Stays false if an exception leaves the picture half done; a rescan then mends it.
  const bool was_current = std::exchange(is_current_, false);
  if (!root) {
    tree_.clear();
    watches_.reset();
    return;
  }
  if (!was_current || !replay(root.get())) rescan(root.get());
  is_current_ = watches_ != nullptr;
}

Fd ChangeTracker::open_root() const {
  Fd root{open_beneath(parent_.handle(), name_.c_str(), kFolder)};
  const bool is_gone =
      !root && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EXDEV);
  if (!is_gone) sys(root.get(), "open \"{}\"", display_name(name_));
  return root;
}

void ChangeTracker::rescan(int root) {
  if (!watches_ && may_watch_ && !tree_.truncated() &&
      has_more_entries_than(root, options_.watch_above)) {
    watches_ = Watches::make();
    may_watch_ = watches_ != nullptr;
  }
  tree_.rescan(root, watches_.get());
  if (watches_ && watches_->failed()) may_watch_ = false;
  if (!may_watch_ || tree_.truncated()) watches_.reset();
}

bool ChangeTracker::replay(int root) {
  struct stat status {};
  sys(::fstat(root, &status), "look at \"{}\"", display_name(name_));
  if (status.st_ino != tree_.root_inode()) return false;
  const auto events = watches_->drain();
  if (!events) return false;
  for (auto event = events->begin(); event != events->end();) {
    const int watch = event->watch;
    std::vector<Touched> names;
    for (; event != events->end() && event->watch == watch; ++event) {
      names.push_back({event->name, event->appeared});
    }
    // Asked for only now: what came before may have removed it.
    Folder* folder = watches_->folder(watch);
    if (folder != nullptr && !tree_.look_again(root, watches_.get(), *folder, names)) return false;
  }
  const bool is_complete = tree_.look_again_at_links(root, watches_.get());
  return is_complete && !watches_->failed() && !tree_.truncated();
}

void ChangeTracker::note(const Folder& folder, const std::string& name, const Stamp* before) {
  if (marks_.empty()) return;
  if (journal_.size() >= kLongestJournal) {
    journal_is_full_ = true;
    return;
  }
  const std::string above = folder.path();
  Difference difference{above.empty() ? name : above + "/" + name, std::nullopt};
  if (before != nullptr) difference.before = *before;
  journal_.push_back(std::move(difference));
}

void ChangeTracker::forget_what_nobody_needs() {
  std::erase_if(marks_, [](const auto& mark) { return mark.expired(); });
  size_t oldest = journal_start_ + journal_.size();
  for (const auto& mark : marks_) {
    if (const auto position = mark.lock()) oldest = std::min(oldest, *position);
  }
  const auto unneeded = static_cast<ptrdiff_t>(oldest - journal_start_);
  journal_.erase(journal_.begin(), journal_.begin() + unneeded);
  journal_start_ = oldest;
  if (marks_.empty()) journal_is_full_ = false;
}

ChangeTracker::Mark ChangeTracker::mark() {
  forget_what_nobody_needs();
  refresh();
  Mark mark{journal_start_ + journal_.size()};
  marks_.push_back(mark.position_);
  return mark;
}

Changes ChangeTracker::changes(const Mark& mark) {
  forget_what_nobody_needs();
  refresh();
  Changes changes;
  changes.truncated = tree_.truncated() || journal_is_full_;
  // The first difference of a path since the mark says what was there at the mark.
  std::unordered_set<std::string_view> seen;
  for (size_t i = *mark.position_ - journal_start_; i < journal_.size(); ++i) {
    const Difference& difference = journal_[i];
    if (!seen.insert(difference.path).second) continue;
    report(difference.path, difference.before, tree_.find(difference.path), changes.list);
  }
  std::sort(changes.list.begin(), changes.list.end(), [](const Change& a, const Change& b) {
    return std::tie(a.path, b.kind) < std::tie(b.path, a.kind);
  });
  return changes;
}

std::chrono::milliseconds ChangeTracker::settle_time() const {
  timespec now{};
  timespec tick{};
  sys(::clock_gettime(CLOCK_REALTIME_COARSE, &now), "read the clock");
  sys(::clock_getres(CLOCK_REALTIME_COARSE, &tick), "read the clock's resolution");
  if (tree_.newest_ctime() < in_nanoseconds(now)) return std::chrono::milliseconds{0};
  // One tick is enough; a time in the future (the clock was set back) is no reason to wait longer.
  return std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::nanoseconds{in_nanoseconds(tick)});
}

}  // namespace belljar::files
