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

// Kills what runs in init's sandbox, but for init itself and the programs in `spared` with what
// descends from them. Looks again until there is nothing more; false if after some time there still
// is, because it multiplies faster. A process that has lost its parents belongs to nobody's family
// and is not spared. From outside: a helper in there could be stopped by a process that has, as all
// have where there is but one id, the helper's own id.
bool kill_processes(int proc, pid_t init, const std::vector<pid_t>& spared);

}  // namespace belljar::launcher
