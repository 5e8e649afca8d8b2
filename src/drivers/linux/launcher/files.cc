#include "drivers/linux/launcher/files.h"

#include <fcntl.h>
#include <sys/stat.h>

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

}  // namespace belljar::launcher
