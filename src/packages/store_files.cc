#include "packages/store_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <system_error>
#include <vector>

#include "packages/beneath.h"

namespace belljar::packages {
namespace {

void write_all(int fd, std::string_view content, std::string_view name) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    content.remove_prefix(static_cast<size_t>(sys(written, "write {}", name)));
  }
}

}  // namespace

void make_directory(const std::string& path) {
  sys(::mkdir(path.c_str(), 0755), "create {}", path);
  sys(::chmod(path.c_str(), 0755), "set the mode of {}", path);
}

Fd open_directory_to_read(const std::string& path) {
  return Fd{
      sys(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), "open {}", path)};
}

void write_new_file(int directory, const char* name, std::string_view content, unsigned mode) {
  const Fd file{
      sys(open_beneath(directory, name, O_WRONLY | O_CREAT | O_EXCL, mode), "create {}", name)};
  sys(::fchmod(file.get(), mode), "set the mode of {}", name);
  write_all(file.get(), content, name);
}

void write_new_file(const std::string& path, std::string_view content) {
  const Fd file{
      sys(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644),
          "create {}", path)};
  sys(::fchmod(file.get(), 0644), "set the mode of {}", path);
  write_all(file.get(), content, path);
}

void copy_file(int from, int to) {
  off_t offset = 0;
  while (true) {
    const ssize_t count = ::copy_file_range(from, &offset, to, nullptr, 1u << 30, 0);
    if (count == 0) return;
    if (count < 0 && errno != EINTR) break;  // not here: the usual way does it
  }
  std::vector<char> buffer(128u << 10);
  while (const ssize_t count =
             sys(::pread(from, buffer.data(), buffer.size(), offset), "read a file of the store")) {
    write_all(to, {buffer.data(), static_cast<size_t>(count)}, "a copy");
    offset += count;
  }
}

void fail_storing(const Error& error, std::string_view what, const std::string& directory) {
  const std::string_view why = error.what();
  const bool is_full = why.ends_with(std::generic_category().message(ENOSPC)) ||
                       why.ends_with(std::generic_category().message(EDQUOT));
  fail(error.code(), "{}: {}{}", what, why,
       is_full
           ? fmt::format("; make room in {}, for example by `belljar packages prune`", directory)
           : "");
}

}  // namespace belljar::packages
