#include "drivers/docker/agent/command.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "drivers/docker/agent/protocol.h"

namespace belljar::agent {

namespace {

bool is_sealed(int file) {
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  const int seals = ::fcntl(file, F_GET_SEALS);
  return seals >= 0 && (seals & kSeals) == kSeals;
}

bool is_sane(const Package& package) {
  return package.argc > 0 && package.argc <= kMaxStrings && package.envc <= kMaxStrings &&
         package.has_source <= 1 && package.string_bytes <= kMaxStringBytes &&
         package.source_bytes <= kMaxSource;
}

int read_at(int file, void* bytes, size_t size, off_t at) {
  const ssize_t count = ::pread(file, bytes, size, at);
  if (count < 0) return errno;
  return static_cast<size_t>(count) == size ? 0 : EINVAL;
}

// Cuts the strings apart. False if they are not exactly so many.
bool split(StartCommand& command, const Package& package) {
  std::string& strings = command.strings;
  const size_t count = size_t{package.argc} + package.envc + package.has_source;
  if (strings.empty() || strings.back() != '\0') return false;
  if (static_cast<size_t>(std::count(strings.begin(), strings.end(), '\0')) != count) return false;
  char* next = strings.data();
  const auto take = [&next] { return std::exchange(next, next + std::strlen(next) + 1); };
  for (uint32_t i = 0; i < package.argc; ++i) command.argv.push_back(take());
  for (uint32_t i = 0; i < package.envc; ++i) command.envp.push_back(take());
  if (package.has_source != 0) command.source_path = take();
  command.argv.push_back(nullptr);
  command.envp.push_back(nullptr);
  return true;
}

}  // namespace

int read_command(int file, StartCommand& command) {
  struct stat info {};
  if (!is_sealed(file) || ::fstat(file, &info) != 0) return EINVAL;
  Package package{};
  if (const int error = read_at(file, &package, sizeof package, 0)) return error;
  if (!is_sane(package)) return EINVAL;
  command.source_at = static_cast<off_t>(sizeof package + package.string_bytes);
  command.source_end = command.source_at + static_cast<off_t>(package.source_bytes);
  if (info.st_size != command.source_end) return EINVAL;
  command.strings.resize(package.string_bytes);
  if (const int error = read_at(file, command.strings.data(), package.string_bytes, sizeof package))
    return error;
  return split(command, package) ? 0 : EINVAL;
}

}  // namespace belljar::agent
