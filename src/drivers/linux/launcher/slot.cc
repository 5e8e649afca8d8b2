#include "drivers/linux/launcher/slot.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "drivers/linux/launcher/cgroup.h"

namespace belljar::launcher {

namespace {

constexpr const char* kDirectory = "/run/belljar";

std::string path_of(unsigned number) {
  return std::string{kDirectory} + "/" + std::to_string(number) + ".lock";
}

// Locks the file if nobody else has, or returns an empty Fd.
Fd try_lock(const std::string& path, int flags) {
  Fd file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600)};
  if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return Fd{};
  // Between open and lock the file may have been removed by its last owner, and another made in its
  // place.
  struct stat locked;
  struct stat named;
  if (::fstat(file.get(), &locked) != 0 || ::stat(path.c_str(), &named) != 0) return Fd{};
  if (locked.st_ino != named.st_ino) return Fd{};
  return file;
}

}  // namespace

int take_slot(Slot& slot, unsigned first) {
  if (::mkdir(kDirectory, 0755) != 0 && errno != EEXIST) return errno;
  for (unsigned number = first; number < kSlots; ++number) {
    slot.lock = try_lock(path_of(number), O_CREAT);
    slot.number = number;
    if (slot.lock) return 0;
  }
  return EUSERS;
}

void release_slot(Slot& slot) {
  ::unlink(path_of(slot.number).c_str());
  slot.lock.reset();
}

void clean_free_slots(Cgroups& cgroups) {
  for (unsigned number = 0; number < kSlots; ++number) {
    const std::string path = path_of(number);
    if (::access(path.c_str(), F_OK) != 0) continue;
    const Fd lock = try_lock(path, 0);
    if (!lock) continue;
    // What cannot be removed yet keeps its name, for a later start.
    if (cgroups.remove_slot(number)) ::unlink(path.c_str());
  }
}

}  // namespace belljar::launcher
