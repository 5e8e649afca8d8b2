#pragma once

namespace belljar::app {

// Loads the filter of belljar's own system calls: what an event loop with files, sockets and a few
// threads needs. It starts no processes, and never asks for the rest of the kernel. Needs
// no_new_privs.
void load_own_filter();

}  // namespace belljar::app
