#include "drivers/linux/launcher/cgroup.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "drivers/linux/launcher/cgroup_tree.h"
#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/weak.h"

namespace belljar::launcher {

namespace {

std::string name_of(uint64_t sandbox) {
  return "s" + std::to_string(sandbox);
}
std::string name_of(uint64_t sandbox, uint64_t process) {
  return name_of(sandbox) + "/p" + std::to_string(process);
}

bool host_has_no_swap() {
  struct sysinfo info;
  return ::sysinfo(&info) == 0 && info.totalswap == 0;
}

}  // namespace

int Cgroups::limit(const Hierarchy& hierarchy, const std::string& directory,
                   const SandboxLimits& limits) {
  if (is_left_out("limits of cgroups")) return 0;
  const int slot = hierarchy.slot.get();
  const auto set = [slot, &directory](const char* file, const std::string& value) {
    return write_file_at(slot, (directory + "/" + file).c_str(), value);
  };
  const std::string bytes = std::to_string(limits.memory);
  const std::string quota = std::to_string(limits.cpu_millis * 100);  // of a period of 100 ms
  const std::string tasks = std::to_string(limits.pids + 1);          // and init
  int error = 0;
  if (hierarchy.v2) {
    if ((hierarchy.controllers & memory) != 0) {
      error = set("memory.max", bytes);
      if (error == 0) swap_off_ = set("memory.swap.max", "0") == 0 || host_has_no_swap();
    }
    if (error == 0 && (hierarchy.controllers & pids) != 0) error = set("pids.max", tasks);
    if (error == 0 && (hierarchy.controllers & cpu) != 0) error = set("cpu.max", quota + " 100000");
    return error;
  }
  if ((hierarchy.controllers & memory) != 0) {
    error = set("memory.limit_in_bytes", bytes);
    if (error == 0) {
      const int swap = set("memory.memsw.limit_in_bytes", bytes);  // absent without swap accounting
      // Socket buffers are not part of the limit in v1; where they are counted at all, they get one
      // of their own.
      set("memory.kmem.tcp.limit_in_bytes", std::to_string(limits.memory / 4));
      if (swap != 0) set("memory.swappiness", "0");  // asks for none, but promises nothing
      swap_off_ = swap == 0 || host_has_no_swap();
    }
  }
  if (error == 0 && (hierarchy.controllers & pids) != 0) error = set("pids.max", tasks);
  if (error == 0 && (hierarchy.controllers & cpu) != 0) error = set("cpu.cfs_quota_us", quota);
  return error;
}

int Cgroups::create_sandbox(uint64_t sandbox, const SandboxLimits& limits) {
  const std::string directory = name_of(sandbox);
  for (const Hierarchy& hierarchy : hierarchies_) {
    if (!hierarchy.per_sandbox()) continue;
    if (::mkdirat(hierarchy.slot.get(), directory.c_str(), 0755) != 0) return errno;
    if (const int error = limit(hierarchy, directory, limits)) return error;
    if (hierarchy.v2 && (hierarchy.controllers & memory) != 0) {
      // The limit is the sandbox's; the memory controller below it lets one program be killed as a
      // whole. v2 allows no processes beside children that have controllers, so init gets a leaf of
      // its own.
      const int slot = hierarchy.slot.get();
      const std::string control = directory + "/cgroup.subtree_control";
      if (const int error = write_file_at(slot, control.c_str(), "+memory")) return error;
      if (::mkdirat(slot, (directory + "/init").c_str(), 0755) != 0) return errno;
    }
  }
  return 0;
}

int Cgroups::create_process(uint64_t sandbox, uint64_t process) {
  if (!can_kill()) return 0;
  const Hierarchy& tree = hierarchies_[tree_];
  const std::string directory = name_of(sandbox, process);
  if (::mkdirat(tree.slot.get(), directory.c_str(), 0755) != 0) return errno;
  if (tree.v2 && (tree.controllers & memory) != 0) {
    return write_file_at(tree.slot.get(), (directory + "/memory.oom.group").c_str(), "1");
  }
  return 0;
}

namespace {

int open_group(int slot, const std::string& directory, Fd& result) {
  result.reset(::openat(slot, directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return result ? 0 : errno;
}

// Writing to `tasks` moves one thread without taking the global lock that cgroup.procs takes.
int enter_v1(int slot, const std::string& directory) {
  return write_file_at(slot, (directory + "/tasks").c_str(), "0");
}

}  // namespace

// At most one hierarchy is v2. It is the one in which processes are grouped, and on a pure v2 host
// the only one.
int Cgroups::open_sandbox(uint64_t sandbox, Fd& result) const {
  if (!can_kill() || !hierarchies_[tree_].v2) return 0;
  const Hierarchy& tree = hierarchies_[tree_];
  const bool leaf = (tree.controllers & memory) != 0;
  return open_group(tree.slot.get(), name_of(sandbox) + (leaf ? "/init" : ""), result);
}

int Cgroups::open_process(uint64_t sandbox, uint64_t process, Fd& result) const {
  if (!can_kill() || !hierarchies_[tree_].v2) return 0;
  return open_group(hierarchies_[tree_].slot.get(), name_of(sandbox, process), result);
}

int Cgroups::enter_sandbox(uint64_t sandbox) const {
  for (const Hierarchy& hierarchy : hierarchies_) {
    if (hierarchy.v2) continue;
    const std::string directory = hierarchy.per_sandbox() ? name_of(sandbox) : ".";
    if (const int error = enter_v1(hierarchy.slot.get(), directory)) return error;
  }
  return 0;
}

int Cgroups::enter_memory(uint64_t sandbox) const {
  const Hierarchy* const hierarchy = with(memory);
  if (hierarchy == nullptr || hierarchy->v2) return 0;
  return enter_v1(hierarchy->slot.get(), name_of(sandbox));
}

std::string Cgroups::group_of(size_t hierarchy, uint64_t sandbox, uint64_t process) const {
  if (hierarchy == tree_) return name_of(sandbox, process);
  return hierarchies_[hierarchy].per_sandbox() ? name_of(sandbox) : ".";
}

int Cgroups::enter_process(uint64_t sandbox, uint64_t process) const {
  for (size_t i = 0; i < hierarchies_.size(); ++i) {
    if (hierarchies_[i].v2) continue;
    const std::string directory = group_of(i, sandbox, process);
    if (const int error = enter_v1(hierarchies_[i].slot.get(), directory)) return error;
  }
  return 0;
}

int Cgroups::admit(uint64_t sandbox, uint64_t process, unsigned id, std::vector<Fd>& tasks) const {
  for (size_t i = 0; i < hierarchies_.size(); ++i) {
    const Hierarchy& hierarchy = hierarchies_[i];
    const int slot = hierarchy.slot.get();
    if (hierarchy.v2) {
      // The kernel asks for the right to write into both the new group and the one above it and
      // the zygote's.
      const std::string own = name_of(sandbox, process) + "/cgroup.procs";
      for (const std::string& file : {own, std::string{"cgroup.procs"}}) {
        if (::fchownat(slot, file.c_str(), id, id, AT_SYMLINK_NOFOLLOW) != 0) return errno;
      }
      continue;
    }
    const std::string file = group_of(i, sandbox, process) + "/tasks";
    tasks.emplace_back(::openat(slot, file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!tasks.back()) return errno;
  }
  return 0;
}

void Cgroups::kill_sandbox(uint64_t sandbox) const {
  if (can_kill()) kill_group(hierarchies_[tree_].slot.get(), name_of(sandbox));
}

void Cgroups::kill_process(uint64_t sandbox, uint64_t process) const {
  if (can_kill()) kill_group(hierarchies_[tree_].slot.get(), name_of(sandbox, process));
}

bool Cgroups::remove_process(uint64_t sandbox, uint64_t process) const {
  if (!can_kill()) return false;  // nobody knows what it left behind
  const int slot = hierarchies_[tree_].slot.get();
  return ::unlinkat(slot, name_of(sandbox, process).c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
}

bool Cgroups::remove_sandbox(uint64_t sandbox) const {
  bool removed = true;
  for (const Hierarchy& hierarchy : hierarchies_) {
    if (hierarchy.per_sandbox())
      removed = remove_tree(hierarchy.slot.get(), name_of(sandbox)) && removed;
  }
  return removed;
}

const Cgroups::Hierarchy* Cgroups::with(unsigned controller) const {
  for (const Hierarchy& hierarchy : hierarchies_) {
    if ((hierarchy.controllers & controller) != 0) return &hierarchy;
  }
  return nullptr;
}

uint64_t Cgroups::oom_kills(uint64_t sandbox) const {
  const Hierarchy* hierarchy = with(memory);
  if (hierarchy == nullptr) return 0;
  const char* file = hierarchy->v2 ? "/memory.events" : "/memory.oom_control";
  const std::string text = read_file_at(hierarchy->slot.get(), (name_of(sandbox) + file).c_str());
  const size_t at = text.find("oom_kill ");
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + 9, nullptr, 10);
}

Fd Cgroups::watch_out_of_memory(uint64_t sandbox) const {
  const Hierarchy* hierarchy = with(memory);
  if (hierarchy == nullptr || hierarchy->v2) return Fd{};
  const std::string directory = name_of(sandbox);
  const int slot = hierarchy->slot.get();
  const Fd control{
      ::openat(slot, (directory + "/memory.oom_control").c_str(), O_RDONLY | O_CLOEXEC)};
  Fd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  const std::string line = std::to_string(event.get()) + " " + std::to_string(control.get());
  if (write_file_at(slot, (directory + "/cgroup.event_control").c_str(), line) != 0) return Fd{};
  return event;
}

uint32_t Cgroups::facts() const {
  const Hierarchy* limits = with(memory);
  return (limits != nullptr && limits->v2 ? kFactCgroupV2 : 0u) |
         (cgroup_kill_ ? kFactCgroupKill : 0u) |
         (swap_off_ || host_has_no_swap() ? kFactMemorySwapOff : 0u) |
         (with(devices) != nullptr ? kFactDeviceCgroup : 0u) |
         (limits != nullptr ? kFactMemoryLimit : 0u) |
         (with(pids) != nullptr ? kFactPidsLimit : 0u) |
         (with(cpu) != nullptr ? kFactCpuLimit : 0u);
}

}  // namespace belljar::launcher
