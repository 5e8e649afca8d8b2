#pragma once

#include <vector>

#include "base/fd.h"
#include "drivers/linux/launcher/place.h"

namespace belljar::launcher {

// Which of the host's directories may be mounted into sandboxes. Everything that belljar names
// until it says that it gives up its rights; from then on it may be in the hands of an attacker,
// and only what was named at that moment counts.
struct Trust {
  bool sealed = false;
  Fd data;                // belljar's own directory: runtimes and packages are beneath it
  std::vector<Fd> files;  // the operator's files directories

  bool allows_files(int directory) const;

  // Besides those in the data directory: a Node.js that was installed for all users by root.
  bool allows_runtime(const Place& place, int directory) const;

  // Those that belljar has put into its data directory; not that directory itself.
  bool allows_packages(int directory) const;
};

}  // namespace belljar::launcher
