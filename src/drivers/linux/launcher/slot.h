#pragma once

#include <vector>

#include "base/fd.h"
#include "drivers/linux/launcher/place.h"
#include "drivers/linux/launcher/protocol.h"

namespace belljar::launcher {

class Cgroups;

constexpr unsigned kSlots = 1024;
constexpr unsigned kIdsPerSlot = 65536;
constexpr unsigned kFirstId =
    0x60000000;  // far above real users and the ranges that distributions hand out
constexpr unsigned kIdsPerSandbox = 16;
constexpr unsigned kIdsPerRootlessSandbox = 2;  // init's and the programs'
// A user usually has 65536 ids for everything: 16 launchers. The first ids are the owner's of all
// sandboxes.
constexpr unsigned kIdsPerRootlessSlot = (kMostSandboxesOfUser + 1) * kIdsPerRootlessSandbox;
static_assert(65536 / kIdsPerRootlessSlot == 16);

// A launcher's number among those of the host's root, or of one user: it names its cgroups and its
// range of ids. Held by a lock on a file, which the kernel releases however the launcher ends.
struct Slot {
  unsigned number = 0;
  unsigned first_id = 0;  // as the launcher's user namespace numbers them
  unsigned id_count = 0;
  unsigned ids_per_sandbox = kIdsPerSandbox;
  Fd directory;
  Fd lock;
  Fd load;  // a file of all launchers: see publish_load()
};

// Takes the first free slot from number `first` on. 0 or an errno.
int take_slot(const Place& place, Slot& slot, unsigned first);

void release_slot(Slot& slot);

// Launchers of one user bind programs to processors; so that two of them do not choose the same one
// while another is idle, each says how many programs it has bound to which, and adds what the
// others say. Only a hint: without it, as between users, each counts its own.
void publish_load(const Slot& slot, const std::vector<unsigned>& programs_per_cpu);
void add_load_of_others(const Slot& slot, std::vector<unsigned>& programs_per_cpu);

// Removes what crashed launchers left behind in slots that nobody holds, as far as it is dead.
void clean_free_slots(const Slot& own, Cgroups& cgroups);

}  // namespace belljar::launcher
