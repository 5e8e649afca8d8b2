#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

// What hosts without usable cgroups need: looking at the processes of sandboxes one by one.
namespace belljar::launcher {

struct ProcessInfo {
  pid_t parent = 0;
  uint64_t memory = 0;         // resident bytes that are its own
  uint64_t pid_namespace = 0;  // the inode that identifies it
};

// All living processes in the launcher's pid namespace and below, by their number in it.
std::map<pid_t, ProcessInfo> list_processes(int proc);

// The pid namespace of a process; 0 if it is gone.
uint64_t pid_namespace_of(int proc, pid_t pid);

// Kills all in the pid namespace of `init` but init itself, at once: the kernel lets none of them
// fork meanwhile. `init_pidfd` is init's.
void kill_namespace(int init_pidfd, int own_pid_namespace);

// Kills what descends from a program, and whatever in its sandbox has lost its parents, but not
// init and what descends from the programs in `others`. Repeats until a look finds nothing more.
void kill_family(int proc, pid_t init, const std::vector<pid_t>& others);

}  // namespace belljar::launcher
