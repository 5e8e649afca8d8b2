#include "packages/tree_changes.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "packages/beneath.h"

namespace belljar::packages {
namespace {

constexpr int kLook = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
constexpr size_t kDeepest = 64;
constexpr size_t kLongestPath = 1024;
constexpr size_t kMostComplaints = 5;

bool is_plain(std::string_view text) {
  return is_utf8(text) && std::none_of(text.begin(), text.end(),
                                       [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool is_same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

constexpr const char* kReading = "read what the install scripts have left";

// Whether programs that still run, or have left a trap, may be why a call failed. Everything else
// is this machine's trouble: what it hides must not be taken for removed.
bool may_be_their_doing(int error) {
  constexpr std::array kTheirs{ENOENT, ENOTDIR, ELOOP, EACCES, EPERM, EXDEV, EAGAIN, ENXIO, ESTALE};
  return std::find(kTheirs.begin(), kTheirs.end(), error) != kTheirs.end();
}

class Collector {
 public:
  Collector(int original, const TreeManifest& manifest, int contents, const ChangeLimits& limits)
      : original_{original}, contents_{contents}, limits_{limits} {
    for (const UnpackedFile& file : manifest.files) {
      files_[file.path] = &file;
      add_directories(file.path);
    }
    for (const TreeLink& link : manifest.links) {
      links_[link.path] = &link;
      add_directories(link.path);
    }
  }

  TreeChanges run(int changed) {
    Fd top{open_beneath(changed, ".", O_RDONLY | O_DIRECTORY)};
    if (!top) fail_errno(errno, "open what the install scripts have left");
    walk(std::move(top), "", 0);
    for (const auto& [path, file] : files_)
      if (!same_.contains(path)) changes_.replaced.emplace(path);
    for (const auto& [path, link] : links_)
      if (!same_.contains(path)) changes_.replaced.emplace(path);
    if (left_out_ > kMostComplaints)
      changes_.left_out.push_back(fmt::format("and {} more", left_out_ - kMostComplaints));
    return std::move(changes_);
  }

 private:
  void add_directories(std::string_view path) {
    for (path = directory_of(path); !path.empty(); path = directory_of(path))
      if (!directories_.emplace(path).second) return;
  }

  void walk(Fd directory, const std::string& path, size_t depth) {
    const int fd = directory.get();
    const std::unique_ptr<DIR, int (*)(DIR*)> names{::fdopendir(fd), &::closedir};
    if (!names) fail_errno(errno, kReading);
    directory.release();
    while (const dirent* entry = next(names.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      look_at(fd, entry->d_name, path.empty() ? std::string{name} : path + "/" + entry->d_name,
              depth);
    }
  }

  static const dirent* next(DIR* names) {
    errno = 0;
    const dirent* entry = ::readdir(names);  // NOLINT(concurrency-mt-unsafe)
    if (entry == nullptr && errno != 0) fail_errno(errno, kReading);
    return entry;
  }

  void look_at(int directory, const char* name, const std::string& path, size_t depth) {
    const bool is_known =
        files_.contains(path) || links_.contains(path) || directories_.contains(path);
    if (!is_known && ++entries_ > limits_.entries)
      fail(Code::exhausted, "the install scripts made more than {} files", limits_.entries);
    if (!is_plain(path) || path.size() > kLongestPath)
      return leave_out(path, "has a name that is not kept");
    struct stat found {};
    if (::fstatat(directory, name, &found, kLook) != 0) return cannot_read(path);
    if (S_ISDIR(found.st_mode)) {
      if (depth >= kDeepest) return leave_out(path, "is too deep");
      Fd inner{open_beneath(directory, name, O_RDONLY | O_DIRECTORY)};
      return inner ? walk(std::move(inner), path, depth + 1) : cannot_read(path);
    }
    if (S_ISLNK(found.st_mode)) return take_link(directory, name, path);
    if (!S_ISREG(found.st_mode)) return leave_out(path, "is neither file, directory nor link");
    if (is_untouched(path, found)) {
      same_.insert(path);
      return;
    }
    take_file(directory, name, path);
  }

  bool is_untouched(const std::string& path, const struct stat& found) const {
    struct stat before {};
    return files_.contains(path) && ::fstatat(original_, path.c_str(), &before, kLook) == 0 &&
           S_ISREG(before.st_mode) && before.st_size == found.st_size &&
           (before.st_mode & 07777) == (found.st_mode & 07777) &&
           is_same_time(before.st_mtim, found.st_mtim) &&
           is_same_time(before.st_ctim, found.st_ctim);
  }

  void take_link(int directory, const char* name, const std::string& path) {
    std::string target(kLongestPath + 1, '\0');
    const ssize_t length = ::readlinkat(directory, name, target.data(), target.size());
    if (length < 0) return cannot_read(path);
    target.resize(static_cast<size_t>(length));
    const auto known = links_.find(path);
    if (known != links_.end() && known->second->target == target) {
      same_.insert(path);
      return;
    }
    if (target.size() > kLongestPath || !is_plain(target) || !stays_within(path, target))
      return leave_out(path, "is a link that leads out of node_modules");
    changes_.links.push_back({path, std::move(target)});
  }

  void take_file(int directory, const char* name, const std::string& path) {
    const Fd file{open_beneath(directory, name, O_RDONLY | O_NONBLOCK | O_NOCTTY)};
    if (!file) return cannot_read(path);
    struct stat opened {};
    sys(::fstat(file.get(), &opened), kReading);
    if (!S_ISREG(opened.st_mode)) return leave_out(path, "is no file any more");
    if (static_cast<uint64_t>(opened.st_size) > limits_.bytes - bytes_)
      fail_size();  // perhaps of holes
    UnpackedFile taken{path, 0, "", (opened.st_mode & 0111) != 0};
    const std::string number = std::to_string(changes_.files.size());
    copy(file.get(), number, taken);
    const auto known = files_.find(path);
    if (known != files_.end() && known->second->sha256 == taken.sha256 &&
        known->second->executable == taken.executable) {
      ::unlinkat(contents_, number.c_str(), 0);
      bytes_ -= taken.size;
      same_.insert(path);
      return;
    }
    changes_.files.push_back(std::move(taken));
  }

  // The file may grow meanwhile; what is hashed is what was copied.
  void copy(int from, const std::string& number, UnpackedFile& taken) {
    const unsigned mode = taken.executable ? 0755 : 0644;
    const Fd to{sys(open_beneath(contents_, number.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode),
                    "create a copy")};
    sys(::fchmod(to.get(), mode), "set the mode of a copy");
    Sha256 hash;
    while (true) {
      const ssize_t count = ::read(from, buffer_.data(), buffer_.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail_errno(errno, kReading);
      if (count == 0) break;
      std::string_view piece{buffer_.data(), static_cast<size_t>(count)};
      if (piece.size() > limits_.bytes - bytes_) fail_size();
      bytes_ += piece.size();
      taken.size += piece.size();
      hash.add(piece);
      while (!piece.empty())
        piece.remove_prefix(
            static_cast<size_t>(sys(::write(to.get(), piece.data(), piece.size()), "write")));
    }
    taken.sha256 = hash.finish();
  }

  [[noreturn]] void fail_size() const {
    fail(Code::exhausted, "the install scripts made files of more than {}",
         format_bytes(limits_.bytes));
  }

  // To be called right after the call that failed.
  void cannot_read(const std::string& path) {
    const int error = errno;
    if (!may_be_their_doing(error)) fail_errno(error, kReading);
    if (error != ENOENT) leave_out(path, "cannot be read");  // else it has just been removed
  }

  void leave_out(const std::string& path, std::string_view why) {
    if (++left_out_ > kMostComplaints) return;
    std::string shown = to_utf8(std::string_view{path}.substr(0, utf8_prefix(path, 80)));
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    changes_.left_out.push_back(fmt::format("{} {}", shown, why));
  }

  int original_;
  int contents_;
  ChangeLimits limits_;
  std::map<std::string_view, const UnpackedFile*> files_;
  std::map<std::string_view, const TreeLink*> links_;
  std::set<std::string_view> directories_;
  std::set<std::string, std::less<>> same_;
  uint64_t entries_ = 0;
  uint64_t bytes_ = 0;
  size_t left_out_ = 0;
  std::vector<char> buffer_ = std::vector<char>(128u << 10);
  TreeChanges changes_;
};

}  // namespace

bool stays_within(std::string_view path, std::string_view target) {
  if (target.empty() || target.front() == '/') return false;
  size_t depth = static_cast<size_t>(std::count(path.begin(), path.end(), '/'));
  while (!target.empty()) {
    const size_t end = std::min(target.find('/'), target.size());
    const std::string_view part = target.substr(0, end);
    target.remove_prefix(std::min(end + 1, target.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      ++depth;
    } else if (depth-- == 0) {
      return false;
    }
  }
  return true;
}

TreeChanges collect_changes(int changed, int original, const TreeManifest& manifest, int contents,
                            const ChangeLimits& limits) {
  return Collector{original, manifest, contents, limits}.run(changed);
}

}  // namespace belljar::packages
