#include "files/beneath.h"

#include <dirent.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace belljar::files {

Type type_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG: return Type::file;
    case S_IFDIR: return Type::directory;
    case S_IFLNK: return Type::symlink;
    case S_IFIFO: return Type::fifo;
    case S_IFSOCK: return Type::socket;
    default: return Type::device;
  }
}

std::string_view type_name(Type type) {
  switch (type) {
    case Type::file: return "file";
    case Type::directory: return "directory";
    case Type::symlink: return "symbolic link";
    case Type::fifo: return "FIFO";
    case Type::socket: return "socket";
    case Type::device: break;
  }
  return "device";
}

namespace {

int open_safely(int directory, const char* path, uint64_t flags, uint64_t more) {
  // Renames elsewhere on the machine make the kernel say EAGAIN; a program may rename for ever.
  constexpr int kTries = 64;
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  if ((flags & O_PATH) == 0) how.flags |= O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | more;
  long opened = -1;
  for (int i = 0; i < kTries; ++i) {
    opened = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (opened >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  return static_cast<int>(opened);
}

}  // namespace

int open_beneath(int directory, const char* path, uint64_t flags) {
  return open_safely(directory, path, flags, RESOLVE_NO_XDEV);
}

int open_mount(int directory, const char* name) {
  return open_safely(directory, name, kHandle | O_DIRECTORY, 0);
}

bool read_names(int directory, size_t limit, std::vector<Name>& names) {
  // Not readdir(): it would allocate a buffer for each directory.
  alignas(dirent64) std::array<char, 32768> buffer;
  size_t room = limit;
  while (true) {
    const ssize_t filled = ::getdents64(directory, buffer.data(), buffer.size());
    if (filled <= 0) return true;
    for (ssize_t at = 0; at < filled;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      at += entry->d_reclen;
      const char* name = entry->d_name;
      if (name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'))) continue;
      if (room-- == 0) return false;
      names.push_back({name, entry->d_type});
    }
  }
}

}  // namespace belljar::files
