#pragma once

namespace belljar::agent {

// True if this process, and with it all that it will start, has no rights and a filter of system
// calls that is ours: whatever the engine was told, this is what it did.
bool is_confined();

// Whether there is any filter.
bool is_filtered();

}  // namespace belljar::agent
