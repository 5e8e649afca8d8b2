#include "drivers/linux/launcher/files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"

namespace belljar::launcher {

namespace {

int write_all(int fd, std::string_view content) {
  ssize_t written = 0;
  do written = ::write(fd, content.data(), content.size());
  while (written < 0 && errno == EINTR);
  if (written < 0) return errno;
  return static_cast<size_t>(written) == content.size() ? 0 : EIO;
}

}  // namespace

int write_file_at(int directory, const char* path, std::string_view content) {
  const Fd file{::openat(directory, path, O_WRONLY | O_CLOEXEC)};
  if (!file) return errno;
  return write_all(file.get(), content);
}

int create_file_at(int directory, const char* path, std::string_view content, mode_t mode) {
  const Fd file{
      ::openat(directory, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)};
  if (!file) return errno;
  return content.empty() ? 0 : write_all(file.get(), content);
}

int create_directories_at(int directory, const char* path, mode_t mode) {
  const std::string whole = path;
  for (size_t slash = whole.find('/', 1);; slash = whole.find('/', slash + 1)) {
    const std::string part = whole.substr(0, slash);
    if (::mkdirat(directory, part.c_str(), mode) != 0 && errno != EEXIST) return errno;
    if (slash == std::string::npos) return 0;
  }
}

std::string read_file_at(int directory, const char* path) {
  const Fd file{::openat(directory, path, O_RDONLY | O_CLOEXEC)};
  std::string content;
  if (!file) return content;
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count == 0) return content;
    if (count < 0 && errno != EINTR) return {};  // a part of a list would pass for the whole
    if (count > 0) content.append(buffer, static_cast<size_t>(count));
  }
}

int replace_file(const char* path, int content) {
  if (::unlink(path) != 0 && errno != ENOENT) return errno;
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const Fd file{::open(path, kFlags, 0644)};
  if (!file) return errno;
  off_t at = 0;
  struct stat info;
  if (::fstat(content, &info) != 0) return errno;
  while (at < info.st_size) {
    const ssize_t sent =
        ::sendfile(file.get(), content, &at, static_cast<size_t>(info.st_size - at));
    if (sent < 0) return errno;
    if (sent == 0) return EIO;
  }
  return 0;
}

int give_pipe(int fd, unsigned id) {
  // Only pipes without a name: a FIFO on some disk may be anybody's.
  struct statfs info;
  if (::fstatfs(fd, &info) != 0) return errno;
  return info.f_type != PIPEFS_MAGIC || ::fchown(fd, id, id) == 0 ? 0 : errno;
}

}  // namespace belljar::launcher
