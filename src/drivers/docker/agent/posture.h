#pragma once

namespace belljar::agent {

// True if this process, and with it all that it will start, has no rights and our own filter of
// system calls: whatever the engine was told, this is what it did.
bool is_confined();

}  // namespace belljar::agent
