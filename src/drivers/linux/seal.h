#pragma once

#include <cstdint>
#include <vector>

#include "drivers/linux/launcher/protocol.h"
#include "drivers/linux/launcher_process.h"

namespace belljar::linux_driver {

constexpr size_t kMostFiles = launcher::kMaxFds - 1;

// What belljar hands to the launcher, and gets from it, before it gives up its rights.
struct SealRequest {
  int data = -1;           // belljar's data directory
  std::vector<int> files;  // the operator's files directories, at most kMostFiles
  uint32_t own_id = 0;     // who belljar is going to be, if it is root now
};
struct Seal {
  Fd user_namespace;      // where belljar may read what sandboxes write
  uint32_t own_id = 0;    // belljar's id as that namespace numbers it
  std::vector<Fd> files;  // the files directories, as belljar will be able to read them
};

// The launcher mounts no other directories of the host from now on. Two halves, because it has some
// milliseconds to work in between. Both block; to be called before anything else is asked of it.
// Error{unavailable} says what this host lacks.
void ask_to_seal(const LauncherProcess& launcher, const SealRequest& request);
Seal wait_for_seal(const LauncherProcess& launcher, const SealRequest& request);

// Says that this directory cannot be given to sandboxes because of the file system that it is on,
// and which ones would do.
[[noreturn]] void fail_to_share(int directory);

}  // namespace belljar::linux_driver
