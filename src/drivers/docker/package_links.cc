#include "drivers/docker/package_links.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <string_view>

#include "base/error.h"

namespace belljar::docker {

namespace {

constexpr int kMostDepth = 128;

Fd open_directory_at(int directory, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  return Fd{sys(::openat(directory, name, kFlags), "open the directory {} of packages", name)};
}

// Nothing if something else has the name already.
Fd make_directory_at(int directory, const char* name) {
  if (::mkdirat(directory, name, 0755) != 0 && errno != EEXIST)
    fail_errno(errno, "make a directory for packages");
  struct stat info {};
  sys(::fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW), "look at {} of packages", name);
  return S_ISDIR(info.st_mode) ? open_directory_at(directory, name) : Fd{};
}

void copy_file(int from, const char* name, int to) {
  const Fd source{::openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  struct stat info {};
  if (!source || ::fstat(source.get(), &info) != 0) fail_errno(errno, "read a file of packages");
  const Fd copy{
      sys(::openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, info.st_mode & 0777),
          "copy the file {} of packages", name)};
  for (;;) {
    const ssize_t size = ::sendfile(copy.get(), source.get(), nullptr, 1u << 30);
    if (size < 0) fail_errno(errno, "copy a file of packages");
    if (size == 0) return;
  }
}

void add_file(int from, const char* name, int to) {
  if (::linkat(from, name, to, name, 0) == 0 || errno == EEXIST) return;
  if (errno != EXDEV && errno != EMLINK && errno != EPERM)
    fail_errno(errno, "link the file of a package");
  copy_file(from, name, to);
}

void add_link(int from, const char* name, int to) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlinkat(from, name, target.data(), target.size() - 1);
  if (size < 0) fail_errno(errno, "read a link of packages");
  if (::symlinkat(target.data(), to, name) != 0 && errno != EEXIST)
    fail_errno(errno, "copy a link of packages");
}

void add_tree(int from, int to, int depth) {
  if (depth > kMostDepth) fail(Code::invalid, "packages are nested too deep");
  const std::unique_ptr<DIR, int (*)(DIR*)> entries{
      ::fdopendir(open_directory_at(from, ".").release()), ::closedir};
  if (!entries) fail_errno(errno, "read a directory of packages");
  while (const dirent* entry = ::readdir(entries.get())) {  // NOLINT(concurrency-mt-unsafe)
    const char* const name = entry->d_name;
    if (std::string_view{name} == "." || std::string_view{name} == "..") continue;
    struct stat info {};
    sys(::fstatat(from, name, &info, AT_SYMLINK_NOFOLLOW), "look at {} of packages", name);
    if (S_ISDIR(info.st_mode)) {
      const Fd own = make_directory_at(to, name);
      if (own) add_tree(open_directory_at(from, name).get(), own.get(), depth + 1);
    } else if (S_ISLNK(info.st_mode)) {
      add_link(from, name, to);
    } else if (S_ISREG(info.st_mode)) {
      add_file(from, name, to);
    }
  }
}

}  // namespace

void link_packages(const std::vector<Fd>& directories, int target) {
  for (const Fd& directory : directories) add_tree(directory.get(), target, 0);
}

}  // namespace belljar::docker
