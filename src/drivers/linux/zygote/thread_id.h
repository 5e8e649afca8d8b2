#pragma once

#include <sys/types.h>

// From Node.js 24 on, V8 remembers the number of a thread in a thread-local variable and tells by
// it who holds a recursive mutex. In a copy the number is another one, and the old one may become
// that of a new thread: both would then be taken for the holder.
namespace belljar::zygote {

// In the zygote: true if the number is one that is not mistaken for something else in memory.
bool thread_id_is_known();

// In a copy: writes the new number over the zygote's.
void renew_thread_id(pid_t old);

}  // namespace belljar::zygote
