#pragma once

#include <sched.h>

#include <vector>

namespace belljar::launcher {

// The cgroup limits the time; the mask tells programs about it. libuv is said to read the cgroup's
// limit, but Node 20 to 26 do so neither in v1 nor in v2. The mask also binds them, so a program
// must not be put beside a busy one while another processor is idle.
//
// Chooses as many of the caller's as `cpu_millis` is worth: those with the fewest programs and,
// among equals, beginning with `here`. 0 or an errno.
int choose_processors(const std::vector<unsigned>& programs_per_cpu, unsigned here,
                      unsigned cpu_millis, cpu_set_t& chosen);

}  // namespace belljar::launcher
