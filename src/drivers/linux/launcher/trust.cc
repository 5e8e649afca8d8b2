#include "drivers/linux/launcher/trust.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace belljar::launcher {

namespace {

constexpr int kMaxDepth = 16;
constexpr uid_t kUnmapped = 65534;

bool is_same(int left, int right) {
  struct stat a;
  struct stat b;
  return ::fstat(left, &a) == 0 && ::fstat(right, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

bool is_beneath(int directory, int ancestor) {
  Fd at{::fcntl(directory, F_DUPFD_CLOEXEC, 0)};
  for (int depth = 0; at && depth < kMaxDepth; ++depth) {
    if (is_same(at.get(), ancestor)) return true;
    at.reset(::openat(at.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  return false;
}

}  // namespace

bool Trust::allows_files(int directory) const {
  if (!sealed) return true;
  for (const Fd& allowed : files) {
    if (is_same(directory, allowed.get())) return true;
  }
  return false;
}

bool Trust::allows_runtime(const Place& place, int directory) const {
  if (!sealed || (data && is_beneath(directory, data.get()))) return true;
  struct stat info;
  if (::fstat(directory, &info) != 0) return false;
  const uid_t root = place.is_root ? 0 : kUnmapped;
  constexpr mode_t kForAll = S_IROTH | S_IXOTH;
  return S_ISDIR(info.st_mode) && info.st_uid == root && (info.st_mode & kForAll) == kForAll &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool Trust::allows_packages(int directory) const {
  if (!sealed) return true;
  return data && is_beneath(directory, data.get()) && !is_same(directory, data.get());
}

}  // namespace belljar::launcher
