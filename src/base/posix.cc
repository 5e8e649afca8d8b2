#include "base/posix.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/id.h"

namespace belljar {

namespace {

void write_all(int fd, std::string_view content, const std::string& what) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    content.remove_prefix(sys(written, "write {}", what));
  }
}

}  // namespace

Pipe make_pipe() {
  int ends[2];
  sys(::pipe2(ends, O_CLOEXEC), "create a pipe");
  return {Fd{ends[0]}, Fd{ends[1]}};
}

Fd make_memory_file(const char* name, std::string_view content) {
  Fd file{
      sys(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), "create memory file {}", name)};
  write_all(file.get(), content, name);
  sys(::lseek(file.get(), 0, SEEK_SET), "rewind memory file {}", name);
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  sys(::fcntl(file.get(), F_ADD_SEALS, kSeals), "seal memory file {}", name);
  return file;
}

Fd open_directory(const std::string& path) {
  return Fd{sys(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "open {}", path)};
}

std::string read_to_end(int fd, const std::string& name, size_t limit) {
  std::string content;
  char buffer[65536];
  for (;;) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (sys(count, "read {}", name) == 0) return content;
    content.append(buffer, static_cast<size_t>(count));
    if (content.size() > limit) fail(Code::exhausted, "{} is larger than {} bytes", name, limit);
  }
}

std::string read_file(const std::string& path, size_t limit) {
  const Fd file{sys(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open {}", path)};
  return read_to_end(file.get(), path, limit);
}

namespace {

enum class Flush { yes, no };

void write_and_rename(const std::string& path, std::string_view content, unsigned mode,
                      Flush flush) {
  const std::string temporary = path + "." + random_hex(8);
  const Fd file{sys(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode),
                    "create {}", temporary)};
  try {
    write_all(file.get(), content, temporary);
    if (flush == Flush::yes) sys(::fsync(file.get()), "flush {}", temporary);
    sys(::rename(temporary.c_str(), path.c_str()), "rename {} to {}", temporary, path);
  } catch (const Error&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view content, unsigned mode) {
  write_and_rename(path, content, mode, Flush::yes);
}

void replace_file(const std::string& path, std::string_view content, unsigned mode) {
  write_and_rename(path, content, mode, Flush::no);
}

void make_directories(const std::string& path, unsigned mode) {
  std::string prefix;
  for (const auto& part : std::filesystem::path{path}) {
    prefix = prefix.empty() ? part.string() : (std::filesystem::path{prefix} / part).string();
    if (::mkdir(prefix.c_str(), mode) == 0 || errno == EEXIST) continue;
    fail_errno(errno, "create directory " + prefix);
  }
}

std::string own_program(std::string_view name) {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const char* directory : {".", "../libexec/belljar"}) {
    const auto path = (here / directory / name).lexically_normal();
    if (std::filesystem::exists(path)) return path.string();
  }
  fail(Code::unavailable, "{} is not beside {}: the installation is incomplete", name,
       here.string());
}

std::string environment(const char* name) {
  const char* value = ::getenv(name);  // NOLINT(concurrency-mt-unsafe): never changed after start
  return value != nullptr ? value : "";
}

}  // namespace belljar
