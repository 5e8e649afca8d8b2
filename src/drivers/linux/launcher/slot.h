#pragma once

#include "base/fd.h"

namespace belljar::launcher {

class Cgroups;

constexpr unsigned kSlots = 1024;
constexpr unsigned kIdsPerSlot = 65536;
constexpr unsigned kFirstId =
    0x60000000;  // far above real users and the ranges that distributions hand out

// A launcher's number among those that run on this host: it names its cgroups and its range of host
// ids. Held by a lock on a file, which the kernel releases however the launcher ends.
struct Slot {
  unsigned number = 0;
  Fd lock;
};

// Takes the first free slot from number `first` on. 0 or an errno.
int take_slot(Slot& slot, unsigned first);

void release_slot(Slot& slot);

// Removes what crashed launchers left behind in slots that nobody holds, as far as it is dead by
// now.
void clean_free_slots(Cgroups& cgroups);

}  // namespace belljar::launcher
