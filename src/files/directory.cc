#include "files/directory.h"

#include <dirent.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/error.h"
#include "files/uri.h"

namespace belljar::files {

namespace {

constexpr size_t kLongestPath = 4096;
constexpr size_t kLongestName = 255;

Info info_of(const struct stat& status) {
  Info info;
  info.type = type_of(status.st_mode);
  info.size = static_cast<uint64_t>(status.st_size);
  info.mode = status.st_mode & 07777;
  info.inode = status.st_ino;
  info.mtime = status.st_mtim;
  info.ctime = status.st_ctim;
  return info;
}

[[noreturn]] void refuse(const std::string& path, int error) {
  const std::string name = display_name(path);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG: fail(Code::not_found, "\"{}\" does not exist", name);
    case ELOOP: fail(Code::denied, "\"{}\" leads through a symbolic link", name);
    case EXDEV:
      fail(Code::denied, "\"{}\" leads out of its directory or to another file system", name);
    default: fail_errno(error, fmt::format("open \"{}\"", name));
  }
}

Info look_at(int handle, const std::string& path) {
  struct stat status {};
  sys(::fstat(handle, &status), "look at \"{}\"", display_name(path));
  return info_of(status);
}

// Walks a directory for list().
class Lister {
 public:
  explicit Lister(const ListOptions& options) : options_{options}, budget_{options.max_read} {}

  void walk(int folder, const std::string& prefix, size_t depth) {
    std::vector<Name> names;
    if (!read_names(folder, budget_, names)) listing_.more_is_exact = false;
    budget_ -= names.size();
    std::sort(names.begin(), names.end(),
              [](const Name& a, const Name& b) { return a.name < b.name; });
    for (const Name& name : names) visit(folder, prefix, name, depth);
  }

  Listing take() { return std::move(listing_); }

 private:
  void visit(int folder, const std::string& prefix, const Name& name, size_t depth) {
    bool is_directory = name.kind == DT_DIR;
    std::string path = prefix + name.name;
    if (listing_.entries.size() < options_.max_entries) {
      struct stat status {};
      if (::fstatat(folder, name.name.c_str(), &status, kLook) != 0) return;  // gone meanwhile
      const Info info = info_of(status);
      is_directory = info.type == Type::directory;
      listing_.entries.push_back({path, info.type, is_directory ? 0 : info.size});
    } else {
      ++listing_.more;
      if (name.kind == DT_UNKNOWN) listing_.more_is_exact = false;
    }
    if (!options_.recursive || !is_directory) return;
    if (depth + 1 >= options_.max_depth || budget_ == 0) {
      listing_.more_is_exact = false;
      return;
    }
    const Fd child{open_beneath(folder, name.name.c_str(), kFolder)};
    if (child) walk(child.get(), path + "/", depth + 1);
  }

  const ListOptions& options_;
  size_t budget_;
  Listing listing_;
};

}  // namespace

Directory::Directory(int handle)
    : handle_{sys(::fcntl(handle, F_DUPFD_CLOEXEC, 3), "keep a directory's handle")} {}

Fd Directory::open_handle(const std::string& path) const {
  if (path.find('\0') != std::string::npos) refuse(path, ENOENT);
  Fd opened{open_beneath(handle(), path.c_str(), kHandle)};
  if (!opened) refuse(path, errno);
  return opened;
}

Directory Directory::open_directory(const std::string& path) const {
  Fd opened = open_handle(path);
  const Info info = look_at(opened.get(), path);
  if (info.type != Type::directory) {
    fail(Code::denied, "\"{}\" is a {}, not a directory", display_name(path), type_name(info.type));
  }
  return Directory{std::move(opened)};
}

std::optional<Info> Directory::look(const std::string& path) const {
  try {
    return look_at(open_handle(path).get(), path);
  } catch (const Error& error) {
    if (error.code() == Code::not_found || error.code() == Code::denied) return std::nullopt;
    throw;
  }
}

File Directory::open_file(const std::string& path) const {
  const Fd found = open_handle(path);
  const Info info = look_at(found.get(), path);
  if (info.type != Type::file) {
    fail(Code::denied, "\"{}\" is a {}, not a file", display_name(path), type_name(info.type));
  }
  // The very file that was looked at: its name may stand for something else by now. Without
  // O_NONBLOCK a program could stop us with a lease on its file.
  const std::string self = fmt::format("/proc/self/fd/{}", found.get());
  Fd opened{::open(self.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  if (!opened) refuse(path, errno);
  return {std::move(opened), info};
}

std::string Directory::read(const std::string& path, uint64_t offset, size_t limit) const {
  const File file = open_file(path);
  return read_range(file.fd.get(), offset, limit);
}

Listing Directory::list(const std::string& path, const ListOptions& options) const {
  const Directory directory = open_directory(path);
  const Fd folder{open_beneath(directory.handle(), ".", kFolder)};
  if (!folder) refuse(path, errno);
  Lister lister{options};
  lister.walk(folder.get(), "", 0);
  return lister.take();
}

std::string read_range(int file, uint64_t offset, size_t limit) {
  constexpr size_t kStep = 256u << 10;  // the size that a file claims is no reason to take memory
  constexpr size_t kReserved = 16u << 20;  // … unless it is little
  struct stat info {};
  std::string content;
  if (::fstat(file, &info) == 0 && info.st_size > 0) {
    content.reserve(std::min({static_cast<size_t>(info.st_size), limit, kReserved}));
  }
  while (content.size() < limit) {
    const uint64_t at = offset + content.size();
    if (at < offset || at > static_cast<uint64_t>(std::numeric_limits<off_t>::max())) break;
    const size_t before = content.size();
    const size_t wanted = std::min(limit - before, std::max(kStep, before));
    content.resize(before + wanted);
    ssize_t count = 0;
    do {
      count = ::pread(file, content.data() + before, wanted, static_cast<off_t>(at));
    } while (count < 0 && errno == EINTR);
    content.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (sys(count, "read a file") == 0) break;
  }
  return content;
}

std::string check_relative_path(std::string_view argument, std::string_view path) {
  const auto refuse_path = [&](std::string_view why) {
    const std::string_view shown = path.substr(0, 80);
    fail(Code::invalid, "argument \"{}\" is \"{}{}\", which {}; it must be a relative path",
         argument, display_name(shown), shown.size() < path.size() ? "…" : "", why);
  };
  if (path.empty()) refuse_path("is empty");
  if (path.size() > kLongestPath) refuse_path("is longer than 4096 bytes");
  if (path.front() == '/') refuse_path("starts with \"/\"");
  if (path.find('\0') != std::string_view::npos) refuse_path("contains a NUL character");
  std::string result;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") refuse_path("leads out of its directory (\"..\")");
    if (part.size() > kLongestName) refuse_path("has a name of more than 255 bytes");
    if (!result.empty()) result += '/';
    result += part;
  }
  return result.empty() ? "." : result;
}

}  // namespace belljar::files
