#pragma once

#include "drivers/linux/zygote/node_abi.h"

// V8 gives work for other threads (compiling, collecting garbage, WebAssembly) to the platform of
// Node.js, whose threads do not survive fork(). It goes to threads of this library instead, which
// are started when there is work, in the zygote and in every child.
namespace belljar::zygote {

// Puts this library's functions into the platform's virtual table. False if that does not look as
// expected.
bool take_over_worker_tasks(const NodeSymbols& symbols);

// Ends the threads, so that a fork() loses none. What is posted later starts new ones.
void rest_worker_threads();

// In a copy that has time: the thread for the first work is there already, and no other.
void keep_one_worker_thread();

}  // namespace belljar::zygote
