#pragma once

#include <sys/types.h>

namespace belljar::zygote {

// fork(), with all that the C library does for it, but the child is the parent's sibling: a child
// of the launcher, which waits for it as for every program. With `cgroup`, a descriptor of a v2
// group, it is born there: moving it later would take some ten milliseconds. -1 for none.
//
// The C library knows no such fork(), so its system call is caught and replaced on the way
// (Syscall User Dispatch). -1 and an errno where the kernel cannot do that.
pid_t fork_beside(int cgroup);

}  // namespace belljar::zygote
