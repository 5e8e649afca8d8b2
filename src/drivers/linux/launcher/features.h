#pragma once

#include <cstdint>

#include "drivers/linux/launcher/protocol.h"

namespace belljar::launcher {

// Tries everything of `Trial`, one after the other, each in a child that is thrown away and, where
// sandboxes do the same, that is root in a user namespace of its own. What is tried is the thing
// itself (a mount, a filter that answers), not a version. `results` gets one errno for each, 0 if
// it works. Takes some 20 ms and changes nothing of the caller.
void try_features(uint8_t (&results)[sizeof Reply::trials]);

}  // namespace belljar::launcher
