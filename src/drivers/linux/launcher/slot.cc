#include "drivers/linux/launcher/slot.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "drivers/linux/launcher/cgroup.h"

namespace belljar::launcher {

namespace {

std::string name_of(unsigned number) {
  return std::to_string(number) + ".lock";
}

// True if only we may write there.
bool is_ours(int directory) {
  struct stat info;
  return ::fstat(directory, &info) == 0 && info.st_uid == ::geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

Fd make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) return Fd{};
  Fd directory{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (directory && !is_ours(directory.get())) {
    errno = EPERM;
    return Fd{};
  }
  return directory;
}

// The same places as those of the sockets of `belljar list`; the launcher has no environment that
// could name others.
Fd open_directory(const Place& place) {
  if (place.is_root) return make_directory("/run/belljar", 0755);
  const std::string user = std::to_string(place.caller);
  const std::string name = "/belljar-" + user;
  const Fd runtime{::open(("/run/user/" + user).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  const bool usable = runtime && is_ours(runtime.get());
  return make_directory((usable ? "/run/user/" + user : "/tmp") + name, 0700);
}

// Locks the file if nobody else has, or returns an empty Fd.
Fd try_lock(int directory, const std::string& name, int flags) {
  Fd file{::openat(directory, name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600)};
  if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return Fd{};
  // Between open and lock the file may have been removed by its last owner, and another made in its
  // place.
  struct stat locked;
  struct stat named;
  if (::fstat(file.get(), &locked) != 0 || ::fstatat(directory, name.c_str(), &named, 0) != 0)
    return Fd{};
  if (locked.st_ino != named.st_ino) return Fd{};
  return file;
}

bool has_locks(int directory) {
  for (unsigned number = 0; number < kSlots; ++number) {
    if (::faccessat(directory, name_of(number).c_str(), F_OK, 0) == 0) return true;
  }
  return false;
}

// One row per slot, one byte per processor. Read and written, never mapped: a mapping would be
// shared with every sandbox's init, which is a copy of the launcher.
constexpr const char* kLoad = "load";
constexpr size_t kLoadRow = CPU_SETSIZE;

void write_load(int file, unsigned number, const std::vector<unsigned>& programs_per_cpu) {
  unsigned char row[kLoadRow] = {};
  for (size_t cpu = 0; cpu < std::min(kLoadRow, programs_per_cpu.size()); ++cpu) {
    row[cpu] = static_cast<unsigned char>(std::min(255u, programs_per_cpu[cpu]));
  }
  const auto at = static_cast<off_t>(number * kLoadRow);
  [[maybe_unused]] const ssize_t ignored = ::pwrite(file, row, sizeof row, at);
}

}  // namespace

int take_slot(const Place& place, Slot& slot, unsigned first) {
  slot.directory = open_directory(place);
  if (!slot.directory) return errno;
  slot.id_count = place.is_root         ? kIdsPerSlot
                  : place.has_own_ids() ? kIdsPerRootlessSlot
                                        : place.id_count;
  slot.ids_per_sandbox = place.is_root ? kIdsPerSandbox : kIdsPerRootlessSandbox;
  const unsigned slots = place.has_own_ids() ? place.id_count / slot.id_count : kSlots;
  for (unsigned number = first; number < slots; ++number) {
    slot.lock = try_lock(slot.directory.get(), name_of(number), O_CREAT);
    slot.number = number;
    slot.first_id = place.first_id + (place.has_own_ids() ? number * slot.id_count : 0);
    if (!slot.lock) continue;
    constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    slot.load.reset(::openat(slot.directory.get(), kLoad, kFlags, 0600));
    publish_load(slot, {});  // somebody else's who had this slot may still be there
    return 0;
  }
  return EUSERS;
}

void publish_load(const Slot& slot, const std::vector<unsigned>& programs_per_cpu) {
  if (slot.load) write_load(slot.load.get(), slot.number, programs_per_cpu);
}

void add_load_of_others(const Slot& slot, std::vector<unsigned>& programs_per_cpu) {
  unsigned char row[kLoadRow];
  for (unsigned number = 0; slot.load && number < kSlots; ++number) {
    const auto at = static_cast<off_t>(number * kLoadRow);
    if (::pread(slot.load.get(), row, sizeof row, at) != sizeof row) return;
    if (number == slot.number) continue;
    for (size_t cpu = 0; cpu < std::min(kLoadRow, programs_per_cpu.size()); ++cpu) {
      programs_per_cpu[cpu] += row[cpu];
    }
  }
}

void release_slot(Slot& slot) {
  publish_load(slot, {});
  ::unlinkat(slot.directory.get(), name_of(slot.number).c_str(), 0);
  slot.lock.reset();
  // The last one takes the file along. Whoever has just opened it has a hint less.
  if (!has_locks(slot.directory.get())) ::unlinkat(slot.directory.get(), kLoad, 0);
}

void clean_free_slots(const Slot& own, Cgroups& cgroups) {
  for (unsigned number = 0; number < kSlots; ++number) {
    const std::string name = name_of(number);
    if (::faccessat(own.directory.get(), name.c_str(), F_OK, 0) != 0) continue;
    const Fd lock = try_lock(own.directory.get(), name, 0);
    if (!lock) continue;
    // What cannot be removed yet keeps its name, for a later start.
    if (!cgroups.remove_slot(number)) continue;
    if (own.load) write_load(own.load.get(), number, {});
    ::unlinkat(own.directory.get(), name.c_str(), 0);
  }
}

}  // namespace belljar::launcher
