#include "packages/tarball.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "packages/beneath.h"

namespace belljar::packages {
namespace {

constexpr size_t kLongestPath = 1024;
constexpr size_t kLongestName = 255;
constexpr size_t kDeepest = 64;

using Archive = std::unique_ptr<archive, decltype(&archive_read_free)>;

// For messages: the name comes from a stranger.
std::string shown(std::string_view path) {
  std::string text = to_utf8(path.substr(0, utf8_prefix(path, 80)));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

// "package/lib/a.js" → "lib/a.js"; "" for the top directory itself.
std::string safe_path(std::string_view path, bool is_file) {
  const auto refuse = [&path](std::string_view why) {
    fail(Code::denied, "the archive is not a proper npm package: \"{}\" {}", shown(path), why);
  };
  if (path.empty()) refuse("is an empty name");
  if (path.size() > kLongestPath) refuse("is too long");
  if (path.front() == '/') refuse("is an absolute path");
  if (!is_utf8(path)) refuse("is not UTF-8");
  if (std::any_of(path.begin(), path.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    refuse("contains a control character");
  std::vector<std::string_view> parts;
  for (std::string_view rest = path; !rest.empty();) {
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") refuse("leads out of its directory");
    if (part.size() > kLongestName) refuse("is too long");
    parts.push_back(part);
  }
  if (parts.size() > kDeepest) refuse("is too deep");
  if (is_file && (parts.size() < 2 || path.ends_with('/'))) refuse("is not a file's name");
  std::string result;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (i > 1) result += '/';
    result += parts[i];
  }
  return result;
}

// Where the wanted files of an archive go.
class Target {
 public:
  virtual ~Target() = default;
  virtual void begin(const std::string& path, bool executable) = 0;  // of the next file
  virtual void write(std::string_view piece) = 0;
};

// Creates directories and files beneath one directory.
class Tree final : public Target {
 public:
  Tree(int root, const UnpackOptions& options) : root_{root}, each_{options.each} {}

  void begin(const std::string& path, bool executable) override {
    end();
    file_ = new_file(path, executable ? 0755 : 0644);
    ++unpacked_.files;
    if (each_) {
      hash_.emplace();
      current_ = {path, 0, "", executable};
    }
  }

  // Of the last file.
  void end() {
    if (!hash_) return;
    current_.sha256 = hash_->finish();
    hash_.reset();
    each_(std::move(current_));
  }

  void write(std::string_view piece) override {
    unpacked_.bytes += piece.size();
    current_.size += piece.size();
    if (hash_) hash_->add(piece);
    while (!piece.empty())
      piece.remove_prefix(static_cast<size_t>(
          sys(::write(file_.get(), piece.data(), piece.size()), "write an unpacked file")));
  }

  Unpacked unpacked() const { return unpacked_; }

 private:
  // Made if missing. Valid until the next call.
  int directory(const std::string& path) {
    if (path.empty()) return root_;
    if (path == last_path_) return last_.get();
    Fd opened{open_beneath(root_, path.c_str(), O_RDONLY | O_DIRECTORY, 0)};
    if (!opened && errno == ENOENT) {
      const size_t slash = path.rfind('/');
      const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
      const int parent = directory(slash == std::string::npos ? "" : path.substr(0, slash));
      sys(::mkdirat(parent, name.c_str(), 0755), "create the directory {}", shown(path));
      opened.reset(open_beneath(parent, name.c_str(), O_RDONLY | O_DIRECTORY, 0));
      // The umask of the operator may be strict; other users (the sandbox's) read these files.
      if (opened) sys(::fchmod(opened.get(), 0755), "set the mode of {}", shown(path));
    }
    if (!opened)
      fail(Code::denied, "the archive uses \"{}\" as a directory: {}", shown(path), errno_text());
    last_ = std::move(opened);
    last_path_ = path;
    return last_.get();
  }

  Fd new_file(const std::string& path, unsigned mode) {
    const size_t slash = path.rfind('/');
    const int parent = directory(slash == std::string::npos ? "" : path.substr(0, slash));
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    const auto create = [parent, &name, mode] {
      return Fd{open_beneath(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode)};
    };
    Fd file = create();
    if (!file && errno == EEXIST) {
      struct stat there {};
      const bool is_file = ::fstatat(parent, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                           S_ISREG(there.st_mode);
      if (!is_file || ::unlinkat(parent, name.c_str(), 0) != 0)
        fail(Code::denied, "the archive uses \"{}\" as a file and as a directory", shown(path));
      --unpacked_.files;
      file = create();
    }
    sys(file.get(), "create {}", shown(path));
    sys(::fchmod(file.get(), mode), "set the mode of {}", shown(path));
    return file;
  }

  static std::string errno_text() { return std::generic_category().message(errno); }

  int root_;
  std::string last_path_;
  Fd last_;
  Fd file_;
  Unpacked unpacked_;
  const std::function<void(UnpackedFile)>& each_;
  std::optional<Sha256> hash_;
  UnpackedFile current_;
};

// Keeps files in memory, as far as the limits allow.
class Memory final : public Target {
 public:
  explicit Memory(const ReadLimits& limits) : limits_{limits}, left_{limits.all} {}

  void begin(const std::string& path, bool) override {
    file_ = &files_[path];
    left_ += file_->content.size();
    *file_ = {};
  }

  void write(std::string_view piece) override {
    file_->size += piece.size();
    const uint64_t room = std::min(limits_.file - file_->content.size(), left_);
    const std::string_view kept = piece.substr(0, std::min<uint64_t>(room, piece.size()));
    file_->content.append(kept);
    left_ -= kept.size();
  }

  std::map<std::string, TarballFile, std::less<>> take() { return std::move(files_); }

 private:
  ReadLimits limits_;
  uint64_t left_;
  std::map<std::string, TarballFile, std::less<>> files_;
  TarballFile* file_ = nullptr;
};

[[noreturn]] void fail_broken(archive* source) {
  const char* why = archive_error_string(source);
  fail(Code::unavailable, "the archive cannot be read: {}", why != nullptr ? why : "it is damaged");
}

Archive open_archive(int fd) {
  sys(::lseek(fd, 0, SEEK_SET), "rewind the archive");
  Archive source{archive_read_new(), &archive_read_free};
  if (!source) fail(Code::exhausted, "no memory to read the archive");
  archive_read_support_filter_gzip(source.get());
  archive_read_support_format_tar(source.get());
  if (archive_read_open_fd(source.get(), fd, 256u << 10) != ARCHIVE_OK) fail_broken(source.get());
  return source;
}

enum class Kind { file, directory, link };

// What npm packages are made of; links are left out, as npm does.
Kind kind_of(archive_entry* entry, std::string_view path) {
  const bool is_hard_link =
      archive_entry_hardlink(entry) != nullptr || archive_entry_hardlink_utf8(entry) != nullptr;
  const auto type = archive_entry_filetype(entry);
  if (is_hard_link || type == AE_IFLNK) return Kind::link;
  if (type == AE_IFREG) return Kind::file;
  if (type == AE_IFDIR) return Kind::directory;
  fail(Code::denied,
       "the archive is not a proper npm package: \"{}\" is neither file nor directory",
       shown(path));
}

// Gives the wanted files of the archive to the target, one after the other.
void read_archive(int tarball, const UnpackOptions& options, Target& target) {
  const Archive source = open_archive(tarball);
  uint64_t entries = 0;
  uint64_t bytes = 0;
  std::vector<char> buffer(256u << 10);
  const auto count_bytes = [&bytes, &options](uint64_t more) {
    if (more > options.max_bytes - bytes) {
      fail(Code::exhausted, "the archive unpacks to more than {}", format_bytes(options.max_bytes));
    }
    bytes += more;
  };
  while (true) {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(source.get(), &entry);
    if (status == ARCHIVE_EOF) return;
    if (status < ARCHIVE_WARN) fail_broken(source.get());
    if (++entries > options.max_entries)
      fail(Code::exhausted, "the archive has more than {} entries", options.max_entries);
    // In the C locale only the UTF-8 form of a name outside ASCII exists.
    const char* name = archive_entry_pathname_utf8(entry);
    if (name == nullptr) name = archive_entry_pathname(entry);
    const std::string_view given = name != nullptr ? name : "";
    const Kind kind = kind_of(entry, given);
    const std::string path = safe_path(given, kind == Kind::file);
    if (kind != Kind::file) continue;  // directories are made when a file needs them
    if (options.wanted && !options.wanted(path)) {
      count_bytes(static_cast<uint64_t>(std::max<int64_t>(archive_entry_size(entry), 0)));
      continue;
    }
    target.begin(path, (archive_entry_perm(entry) & 0111) != 0);
    while (true) {
      const la_ssize_t count = archive_read_data(source.get(), buffer.data(), buffer.size());
      if (count < 0) fail_broken(source.get());
      if (count == 0) break;
      count_bytes(static_cast<uint64_t>(count));
      target.write({buffer.data(), static_cast<size_t>(count)});
    }
  }
}

}  // namespace

Unpacked unpack_tarball(int tarball, int directory, const UnpackOptions& options) {
  Tree tree{directory, options};
  read_archive(tarball, options, tree);
  tree.end();
  return tree.unpacked();
}

std::map<std::string, TarballFile, std::less<>> read_tarball(int tarball,
                                                             const UnpackOptions& options,
                                                             const ReadLimits& limits) {
  Memory memory{limits};
  read_archive(tarball, options, memory);
  return memory.take();
}

}  // namespace belljar::packages
