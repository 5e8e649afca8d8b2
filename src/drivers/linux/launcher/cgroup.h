#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "drivers/linux/launcher/place.h"
#include "drivers/linux/launcher/protocol.h"

namespace belljar::launcher {

// Where the cgroups of one launcher live: in v2 one directory, in v1 one per controller, and on a
// hybrid host the limits in v1 and the tree of processes in the (controller-less) v2 hierarchy.
// Each hierarchy gets
//   belljar/<slot>/<sandbox>            limits; its init
//   belljar/<slot>/<sandbox>/<process>  what a started program and its children live in, to be
//   killed as one
// where the last level exists in the hierarchy used for killing only.
class Cgroups {
 public:
  // Finds the hierarchies and makes belljar/<slot>, removing what a crashed launcher left there. 0
  // or an errno; `missing` then names what this host lacks. For an ordinary user nothing is
  // missing: with less than a delegated v2 group less is limited, as facts() says. EBUSY if
  // something there is not dead yet.
  int set_up(const Place& place, unsigned slot, std::string& missing);

  bool limit_memory() const { return with(memory) != nullptr; }

  // False: there is no group for a program, so it cannot be killed through one.
  bool can_kill() const { return !hierarchies_.empty(); }

  // Kills and removes everything of a slot whose launcher is gone. False if something is left: the
  // init of a sandbox ends only when the new parent of its programs has reaped them.
  bool remove_slot(unsigned slot);

  int create_sandbox(uint64_t sandbox, const SandboxLimits& limits);
  int create_process(uint64_t sandbox, uint64_t process);

  // How a process gets in: in v2 it is born there, by clone_process() with this descriptor (empty
  // if v2 is not used); in v1 it moves there itself, which must be the first thing it does.
  // 0 or an errno: a process without it would live outside, without limits and out of reach.
  int open_sandbox(uint64_t sandbox, Fd& result) const;
  int open_process(uint64_t sandbox, uint64_t process, Fd& result) const;
  int enter_sandbox(uint64_t sandbox) const;
  int enter_process(uint64_t sandbox, uint64_t process) const;
  int enter_memory(uint64_t sandbox) const;  // of v1 groups only that in which memory is counted

  // For a zygote's copies, which enter with the rights of `id`: lets it put processes into this
  // group, and opens what they enter v1 groups with.
  int admit(uint64_t sandbox, uint64_t process, unsigned id, std::vector<Fd>& tasks) const;

  // Kills every process in it. Nothing in it can catch, delay or outrun this.
  void kill_sandbox(uint64_t sandbox) const;  // init; programs have cgroups of their own
  void kill_process(uint64_t sandbox, uint64_t process) const;

  // False while something in it lives.
  bool remove_process(uint64_t sandbox, uint64_t process) const;
  bool remove_sandbox(uint64_t sandbox) const;

  // How often the kernel's OOM killer has struck in the sandbox.
  uint64_t oom_kills(uint64_t sandbox) const;

  // v1 kills one process of a sandbox that is out of memory; v2 the whole program. To do the same
  // in v1: an eventfd that is signalled when it happens. Empty in v2.
  Fd watch_out_of_memory(uint64_t sandbox) const;

  uint32_t facts() const;

 private:
  enum Controller : unsigned { memory = 1, pids = 2, cpu = 4, devices = 8, freezer = 16 };
  struct Hierarchy {
    std::string mount_point;
    bool v2 = false;
    unsigned controllers = 0;
    Fd slot;  // belljar/<slot>
    bool per_sandbox() const { return controllers != devices; }
  };

  void find_hierarchies();
  void find_delegated(const Place& place);
  int make_slots(unsigned slot, std::string& missing);
  int choose_tree(unsigned slot, std::string& missing);
  unsigned find_controllers() const;
  static unsigned controllers_in(const std::string& group);  // v2
  int make_slot(Hierarchy& hierarchy, unsigned slot) const;
  static int allow_only_safe_devices(int slot);
  int limit(const Hierarchy& hierarchy, const std::string& directory, const SandboxLimits& limits);
  const Hierarchy* with(unsigned controller) const;
  std::string group_of(size_t hierarchy, uint64_t sandbox, uint64_t process) const;

  std::vector<Hierarchy> hierarchies_;
  size_t tree_ = 0;           // index of the hierarchy in which processes are grouped and killed
  bool cgroup_kill_ = false;  // by cgroup.kill; else by the freezer
  bool swap_off_ = false;     // known once a sandbox was limited
};

}  // namespace belljar::launcher
