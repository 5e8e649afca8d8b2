#include "packages/store_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/error.h"
#include "base/id.h"
#include "base/posix.h"

namespace belljar::packages {
namespace {

namespace fs = std::filesystem;

void make_public_directory(const std::string& path) {
  sys(::mkdir(path.c_str(), 0755), "create {}", path);
  // Sandboxes read it as other users, whatever the operator's umask is.
  sys(::chmod(path.c_str(), 0755), "set the mode of {}", path);
}

void make_if_missing(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return;
  try {
    make_public_directory(path);
  } catch (const Error&) {
    if (::stat(path.c_str(), &status) != 0) throw;  // another process has made it
  }
}

// The lock of a directory in tmp/, if nobody has it and it is still there.
Fd lock_directory(const std::string& path) {
  Fd directory{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  struct stat status {};
  if (!directory || ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) return Fd{};
  if (::fstat(directory.get(), &status) != 0 || status.st_nlink == 0) return Fd{};
  return directory;
}

// ext4 puts the subdirectories of such a directory far apart, and files beside their directory. It
// does not use the inode of a deleted file again for minutes, and looks at all of those, for every
// new file, where it looks for a free one: after much was deleted that takes a millisecond a file.
void spread_subdirectories(int directory) {
  int flags = 0;
  if (::ioctl(directory, FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= FS_TOPDIR_FL;
  ::ioctl(directory, FS_IOC_SETFLAGS, &flags);  // a hint; other file systems have none
}

}  // namespace

void remove_tree(const std::string& path) {
  std::error_code ignored;  // what stays is found by clean()
  fs::remove_all(path, ignored);
}

StoreDirectory::StoreDirectory(std::string path) : path_{std::move(path)} {}

StoreDirectory::~StoreDirectory() {
  if (!own_.empty()) remove_tree(own_);
}

std::string StoreDirectory::content(std::string_view id) const {
  return fmt::format("{}/contents/{}", path_, id);
}

std::string StoreDirectory::tree(std::string_view id) const {
  return fmt::format("{}/trees/{}", path_, id);
}

std::string StoreDirectory::layer(std::string_view key) const {
  return fmt::format("{}/layers/{}", path_, key);
}

void StoreDirectory::prepare() {
  if (own_lock_) return;
  make_directories(path_);
  for (const char* name : {"/contents", "/trees", "/layers", "/locks", "/tmp"})
    make_if_missing(path_ + name);
  // Somebody's clean() may take a directory between its making and its locking.
  for (int tries = 0; !own_lock_; ++tries) {
    if (tries > 100) fail(Code::unavailable, "{} cannot be locked", own_);
    own_ = path_ + "/tmp/" + random_hex(8);
    sys(::mkdir(own_.c_str(), 0755), "create {}", own_);
    own_lock_ = lock_directory(own_);
  }
  spread_subdirectories(own_lock_.get());
}

void StoreDirectory::clean() const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{path_ + "/tmp", error}) {
    const std::string path = entry.path().string();
    if (path == own_) continue;
    if (const Fd lock = lock_directory(path)) remove_tree(path);
  }
}

std::string StoreDirectory::make_temporary() const {
  std::string path = own_ + "/" + random_hex(8);
  make_public_directory(path);
  return path;
}

std::optional<std::string> StoreDirectory::take_away(const std::string& path) const {
  std::string away = own_ + "/" + random_hex(8);
  if (::rename(path.c_str(), away.c_str()) == 0) return away;
  if (errno != ENOENT) fail_errno(errno, "remove " + path);
  return std::nullopt;
}

bool StoreDirectory::publish(const std::string& temporary, const std::string& path) const {
  if (::rename(temporary.c_str(), path.c_str()) == 0) return true;
  if (errno != ENOTEMPTY && errno != EEXIST)
    fail_errno(errno, fmt::format("rename {} to {}", temporary, path));
  return false;
}

std::optional<Fd> StoreDirectory::try_lock(std::string_view name, Lock how) const {
  const std::string path = fmt::format("{}/locks/{}", path_, name);
  while (true) {
    Fd file{sys(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644), "open {}",
                path)};
    const int kind = how == Lock::shared ? LOCK_SH : LOCK_EX;
    if (::flock(file.get(), kind | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) fail_errno(errno, "lock " + path);
      return std::nullopt;
    }
    struct stat status {};
    sys(::fstat(file.get(), &status), "look at {}", path);
    if (status.st_nlink != 0) return file;  // else: forgotten meanwhile, so it locks nothing
  }
}

void StoreDirectory::forget_lock(std::string_view name) const {
  ::unlink(fmt::format("{}/locks/{}", path_, name).c_str());
}

}  // namespace belljar::packages
