#include "packages/tree_manifest.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/fd.h"
#include "base/sha256.h"
#include "packages/beneath.h"

namespace belljar::packages {
namespace {

constexpr size_t kHashLength = 64;
constexpr std::string_view kLinkMark = "-> ";
constexpr int kLook = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;

[[noreturn]] void fail_damaged() {
  fail(Code::unavailable, "a list of files in the store is damaged");
}

UnpackedFile parse_file(std::string_view line) {
  UnpackedFile file;
  if (line.size() < kHashLength + 6 || line[kHashLength] != ' ' || line[kHashLength + 2] != ' ')
    fail_damaged();
  file.sha256 = line.substr(0, kHashLength);
  file.executable = line[kHashLength + 1] == 'x';
  line.remove_prefix(kHashLength + 3);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), file.size);
  if (error != std::errc{} || end == line.data() + line.size() || *end != ' ') fail_damaged();
  file.path = line.substr(static_cast<size_t>(end - line.data()) + 1);
  if (file.path.empty()) fail_damaged();
  return file;
}

// Walks the real tree and crosses off what it finds.
class Comparison {
 public:
  explicit Comparison(const TreeManifest& manifest) {
    for (const UnpackedFile& file : manifest.files) {
      files_[file.path] = &file;
      add_directories(file.path);
    }
    for (const TreeLink& link : manifest.links) {
      links_[link.path] = &link;
      add_directories(link.path);
    }
  }

  std::string run(int directory) {
    Fd top{open_beneath(directory, ".", O_RDONLY | O_DIRECTORY)};
    if (!top) return "the directory cannot be opened";
    std::string difference = walk(std::move(top), "");
    if (!difference.empty()) return difference;
    if (seen_ != files_.size() + links_.size()) return "a file is missing: " + first_missing();
    return "";
  }

 private:
  void add_directories(std::string_view path) {
    for (path = directory_of(path); !path.empty(); path = directory_of(path))
      if (!directories_.emplace(path).second) return;
  }

  std::string walk(Fd directory, const std::string& path) {
    const int fd = directory.get();
    const std::unique_ptr<DIR, int (*)(DIR*)> names{::fdopendir(fd), &::closedir};
    if (!names) return "cannot be read: " + path;
    directory.release();
    while (const dirent* entry = ::readdir(names.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      std::string difference =
          look_at(fd, entry->d_name, path + (path.empty() ? "" : "/") + entry->d_name);
      if (!difference.empty()) return difference;
    }
    return "";
  }

  std::string look_at(int directory, const char* name, const std::string& path) {
    struct stat found {};
    if (::fstatat(directory, name, &found, kLook) != 0) return "cannot be read: " + path;
    if (S_ISDIR(found.st_mode)) {
      if (!directories_.contains(path)) return "is too much: " + path;
      Fd inner{open_beneath(directory, name, O_RDONLY | O_DIRECTORY)};
      return inner ? walk(std::move(inner), path) : "cannot be read: " + path;
    }
    if (S_ISLNK(found.st_mode)) return look_at_link(directory, name, path);
    const auto file = files_.find(path);
    if (file == files_.end() || !S_ISREG(found.st_mode)) return "is too much: " + path;
    seen_paths_.insert(file->first);
    ++seen_;
    if (static_cast<uint64_t>(found.st_size) != file->second->size)
      return "has another size: " + path;
    const unsigned mode = file->second->executable ? 0755 : 0644;
    return (found.st_mode & 07777) == mode ? "" : "has another mode: " + path;
  }

  std::string look_at_link(int directory, const char* name, const std::string& path) {
    const auto link = links_.find(path);
    if (link == links_.end()) return "is too much: " + path;
    seen_paths_.insert(link->first);
    ++seen_;
    std::string target(link->second->target.size() + 1, '\0');
    const ssize_t length = ::readlinkat(directory, name, target.data(), target.size());
    target.resize(static_cast<size_t>(std::max<ssize_t>(length, 0)));
    return target == link->second->target ? "" : "leads elsewhere: " + path;
  }

  std::string first_missing() const {
    for (const auto& file : files_)
      if (!seen_paths_.contains(file.first)) return std::string{file.first};
    for (const auto& link : links_)
      if (!seen_paths_.contains(link.first)) return std::string{link.first};
    return "";
  }

  std::map<std::string_view, const UnpackedFile*> files_;
  std::map<std::string_view, const TreeLink*> links_;
  std::set<std::string_view> directories_;
  std::set<std::string_view> seen_paths_;
  size_t seen_ = 0;
};

// The files of one directory follow each other, so it is opened once.
class OpenDirectory {
 public:
  explicit OpenDirectory(int root) : root_{root} {}
  int at(std::string_view path) {
    if (path.empty()) return root_;
    if (path != path_ || !fd_) {
      path_ = path;
      fd_.reset(open_beneath(root_, path_.c_str(), O_PATH | O_DIRECTORY));
    }
    return fd_.get();
  }

 private:
  int root_;
  std::string path_;
  Fd fd_;
};

bool has_hash(int directory, const std::string& name, const std::string& hash,
              std::vector<char>& buffer) {
  const Fd file{open_beneath(directory, name.c_str(), O_RDONLY | O_NONBLOCK)};
  if (!file) return false;
  Sha256 sha256;
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) break;
    sha256.add({buffer.data(), static_cast<size_t>(count)});
    // Less than asked for is the end of a regular file: one call less per file.
    if (static_cast<size_t>(count) < buffer.size()) break;
  }
  return sha256.finish() == hash;
}

}  // namespace

std::string_view directory_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : path.substr(0, slash);
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

uint64_t in_blocks(uint64_t bytes) {
  constexpr uint64_t kBlock = 4096;
  return (bytes + kBlock - 1) / kBlock * kBlock;
}

void TreeManifest::sort() {
  const auto order = [](const UnpackedFile& a, const UnpackedFile& b) {
    const auto in_a = directory_of(a.path);
    const auto in_b = directory_of(b.path);
    return in_a != in_b ? in_a < in_b : a.path < b.path;
  };
  std::sort(files.begin(), files.end(), order);
  std::sort(links.begin(), links.end(),
            [](const TreeLink& a, const TreeLink& b) { return a.path < b.path; });
}

std::string TreeManifest::serialize() const {
  std::string text;
  for (const UnpackedFile& file : files)
    text += fmt::format("{} {} {} {}\n", file.sha256, file.executable ? 'x' : '-', file.size,
                        file.path);
  for (const TreeLink& link : links)
    text.append(kLinkMark).append(link.target).append(1, '\0').append(link.path).append("\n");
  return text;
}

TreeManifest TreeManifest::parse(std::string_view text) {
  TreeManifest manifest;
  if (!text.empty() && !text.ends_with('\n')) fail_damaged();
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (!line.starts_with(kLinkMark)) {
      manifest.files.push_back(parse_file(line));
      continue;
    }
    const size_t zero = line.find('\0');
    if (zero == std::string_view::npos) fail_damaged();
    manifest.links.push_back({std::string{line.substr(zero + 1)},
                              std::string{line.substr(kLinkMark.size(), zero - kLinkMark.size())}});
  }
  return manifest;
}

uint64_t TreeManifest::bytes() const {
  uint64_t sum = 0;
  for (const UnpackedFile& file : files) sum += file.size;
  return sum;
}

uint64_t TreeManifest::disk_bytes() const {
  std::set<std::string_view> directories{""};
  uint64_t sum = 0;
  for (const UnpackedFile& file : files) {
    sum += in_blocks(file.size);
    directories.insert(directory_of(file.path));
  }
  return sum + in_blocks(1) * directories.size();
}

std::string find_difference(const TreeManifest& manifest, int directory) {
  return Comparison{manifest}.run(directory);
}

std::string find_changed_file(const TreeManifest& manifest, int directory, size_t first,
                              size_t last) {
  OpenDirectory open{directory};
  std::vector<char> buffer(128u << 10);
  for (size_t i = first; i < std::min(last, manifest.files.size()); ++i) {
    const UnpackedFile& file = manifest.files[i];
    const int parent = open.at(directory_of(file.path));
    if (parent < 0 || !has_hash(parent, std::string{base_name(file.path)}, file.sha256, buffer))
      return "has other content: " + file.path;
  }
  return "";
}

}  // namespace belljar::packages
