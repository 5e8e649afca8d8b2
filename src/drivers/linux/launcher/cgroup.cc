#include "drivers/linux/launcher/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "drivers/linux/launcher/files.h"

namespace belljar::launcher {

namespace {

std::string name_of(uint64_t sandbox) {
  return "s" + std::to_string(sandbox);
}
std::string name_of(uint64_t sandbox, uint64_t process) {
  return name_of(sandbox) + "/p" + std::to_string(process);
}

constexpr int kKillTries = 1000;

bool exists(int directory, const std::string& path) {
  return ::faccessat(directory, path.c_str(), F_OK, 0) == 0;
}

// v1 without cgroup.kill: stop the group so that nothing in it can fork away, kill all, let go.
void freeze_and_kill(int directory, const std::string& path) {
  write_file_at(directory, (path + "/freezer.state").c_str(), "FROZEN");
  const std::string pids = read_file_at(directory, (path + "/cgroup.procs").c_str());
  for (const char* line = pids.c_str(); *line != '\0';) {
    char* end = nullptr;
    const long pid = std::strtol(line, &end, 10);
    // Frozen processes cannot exit, so these numbers cannot have been given to somebody else.
    if (pid > 0) ::kill(static_cast<pid_t>(pid), SIGKILL);
    line = *end == '\0' ? end : end + 1;
  }
  write_file_at(directory, (path + "/freezer.state").c_str(), "THAWED");
}

void kill_group(int directory, const std::string& path) {
  // Nobody asks a second time, so a descriptor or memory that is missing is waited for.
  int error = 0;
  for (int tries = 0; tries < kKillTries; ++tries) {
    error = write_file_at(directory, (path + "/cgroup.kill").c_str(), "1");
    if (error != EMFILE && error != ENFILE && error != ENOMEM) break;
    ::usleep(1000);
  }
  if (error == 0) return;
  if (exists(directory, path + "/freezer.state")) return freeze_and_kill(directory, path);
}

// Removes a cgroup with those below it; what lives in it is killed first. A cgroup tree is as deep
// as we made it.
bool remove_tree(int directory, const std::string& path) {
  Fd opened{::openat(directory, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!opened) return errno == ENOENT;
  DIR* entries = ::fdopendir(opened.get());
  if (entries == nullptr) return false;
  const int here = opened.release();  // closed with `entries`
  while (const dirent* entry = ::readdir(entries)) {
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') remove_tree(here, entry->d_name);
  }
  ::closedir(entries);
  if (::unlinkat(directory, path.c_str(), AT_REMOVEDIR) == 0) return true;
  return errno == ENOENT;
}

bool remove_slot_of(const std::string& mount_point, unsigned slot) {
  const Fd root{::open(mount_point.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!root) return errno == ENOENT;
  const bool removed = remove_tree(root.get(), "belljar/" + std::to_string(slot));
  ::unlinkat(root.get(), "belljar", AT_REMOVEDIR);  // only if no other launcher uses it
  return removed;
}

bool host_has_no_swap() {
  struct sysinfo info;
  return ::sysinfo(&info) == 0 && info.totalswap == 0;
}

bool has_word(const std::string& text, const char* word, char separator) {
  const std::string padded = separator + text + separator;
  return padded.find(separator + std::string{word} + separator) != std::string::npos;
}

}  // namespace

void Cgroups::find_hierarchies() {
  // "36 35 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory"
  const std::string mounts = read_file_at(AT_FDCWD, "/proc/self/mountinfo");
  for (size_t start = 0; start < mounts.size();) {
    const size_t end = mounts.find('\n', start);
    const std::string line = mounts.substr(start, end - start);
    start = end == std::string::npos ? mounts.size() : end + 1;
    char point[4096];
    char type[64];
    char options[1024];
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    if (std::sscanf(line.c_str(), "%*s %*s %*s %*s %4095s", point) != 1) continue;
    if (std::sscanf(line.c_str() + dash, " - %63s %*s %1023s", type, options) != 2) continue;
    Hierarchy hierarchy;
    hierarchy.mount_point = point;
    if (std::strcmp(type, "cgroup2") == 0) {
      hierarchy.v2 = true;
      std::string list =
          read_file_at(AT_FDCWD, (hierarchy.mount_point + "/cgroup.controllers").c_str());
      if (!list.empty()) list.pop_back();
      for (const auto& [word, bit] : {std::pair{"memory", memory}, {"pids", pids}, {"cpu", cpu}}) {
        if (has_word(list, word, ' ')) hierarchy.controllers |= bit;
      }
      hierarchies_.push_back(std::move(hierarchy));
    } else if (std::strcmp(type, "cgroup") == 0) {
      for (const auto& [word, bit] : {std::pair{"memory", memory},
                                      {"pids", pids},
                                      {"cpu", cpu},
                                      {"devices", devices},
                                      {"freezer", freezer}}) {
        // The same hierarchy may be mounted twice; the first will do.
        if (has_word(options, word, ',') && with(bit) == nullptr) hierarchy.controllers |= bit;
      }
      if (hierarchy.controllers != 0) hierarchies_.push_back(std::move(hierarchy));
    }
  }
}

unsigned Cgroups::find_controllers() const {
  unsigned found = 0;
  for (const Hierarchy& hierarchy : hierarchies_) found |= hierarchy.controllers;
  return found;
}

int Cgroups::make_slot(Hierarchy& hierarchy, unsigned slot) const {
  const Fd root{::open(hierarchy.mount_point.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!root) return errno;
  const std::string path = "belljar/" + std::to_string(slot);
  if (hierarchy.v2 && hierarchy.controllers != 0) {
    std::string enable;
    for (const auto& [word, bit] :
         {std::pair{"+memory ", memory}, {"+pids ", pids}, {"+cpu ", cpu}}) {
      if ((hierarchy.controllers & bit) != 0) enable += word;
    }
    if (const int error = create_directories_at(root.get(), path.c_str(), 0755)) return error;
    for (const std::string& level : {std::string{"."}, std::string{"belljar"}, path}) {
      const std::string file = level + "/cgroup.subtree_control";
      if (const int error = write_file_at(root.get(), file.c_str(), enable)) return error;
    }
  } else if (const int error = create_directories_at(root.get(), path.c_str(), 0755)) {
    return error;
  }
  hierarchy.slot.reset(::openat(root.get(), path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!hierarchy.slot) return errno;
  return hierarchy.controllers == devices ? allow_only_safe_devices(hierarchy.slot.get()) : 0;
}

int Cgroups::allow_only_safe_devices(int slot) {
  if (const int error = write_file_at(slot, "devices.deny", "a")) return error;
  // null, zero, full, random, urandom
  for (const char* device : {"c 1:3 rw", "c 1:5 rw", "c 1:7 rw", "c 1:8 rw", "c 1:9 rw"}) {
    if (const int error = write_file_at(slot, "devices.allow", device)) return error;
  }
  return 0;
}

int Cgroups::set_up(unsigned slot, std::string& missing) {
  hierarchies_.clear();
  find_hierarchies();
  const unsigned found = find_controllers();
  for (const auto& [name, bit] : {std::pair{"memory", memory}, {"pids", pids}, {"cpu", cpu}}) {
    if ((found & bit) == 0) missing += std::string{missing.empty() ? "" : ", "} + name;
  }
  if (!missing.empty()) return ENOTSUP;
  if (!remove_slot(slot)) return EBUSY;
  for (Hierarchy& hierarchy : hierarchies_) {
    if (const int error = make_slot(hierarchy, slot)) {
      missing = "a writable " + hierarchy.mount_point;
      return error;
    }
  }
  bool has_tree = false;
  for (size_t i = 0; i < hierarchies_.size(); ++i) {
    const bool kills = hierarchies_[i].v2 && exists(hierarchies_[i].slot.get(), "cgroup.kill");
    if (kills || (!has_tree && (hierarchies_[i].controllers & freezer) != 0)) {
      tree_ = i;
      cgroup_kill_ = kills;
      has_tree = true;
    }
  }
  if (!has_tree) missing = "cgroup.kill (cgroup v2) or the freezer (v1)";
  if (!has_tree) return ENOTSUP;
  // A hierarchy that neither limits nor kills need not be maintained.
  std::swap(hierarchies_[0], hierarchies_[tree_]);
  tree_ = 0;
  for (size_t i = hierarchies_.size() - 1; i > 0; --i) {
    if ((hierarchies_[i].controllers & ~freezer) != 0) continue;
    if (!remove_slot_of(hierarchies_[i].mount_point, slot)) return EBUSY;
    hierarchies_.erase(hierarchies_.begin() + static_cast<long>(i));
  }
  return 0;
}

bool Cgroups::remove_slot(unsigned slot) {
  const std::string path = "belljar/" + std::to_string(slot);
  // Kill everywhere first: a process leaves all hierarchies at once.
  for (const Hierarchy& hierarchy : hierarchies_) {
    const Fd root{::open(hierarchy.mount_point.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!root) continue;
    kill_group(root.get(), path);
  }
  bool removed = true;
  for (const Hierarchy& hierarchy : hierarchies_) {
    removed = remove_slot_of(hierarchy.mount_point, slot) && removed;
  }
  return removed;
}

int Cgroups::limit(const Hierarchy& hierarchy, const std::string& directory,
                   const SandboxLimits& limits) {
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
      // The limit is the sandbox's; the memory controller below it lets one program be killed as a
      // whole.
      if (error == 0) error = set("cgroup.subtree_control", "+memory");
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
      // v2 allows no processes beside children that have controllers, so init gets a leaf of its
      // own.
      if (::mkdirat(hierarchy.slot.get(), (directory + "/init").c_str(), 0755) != 0) return errno;
    }
  }
  return 0;
}

int Cgroups::create_process(uint64_t sandbox, uint64_t process) {
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
  const Hierarchy& tree = hierarchies_[tree_];
  if (!tree.v2) return 0;
  const bool leaf = (tree.controllers & memory) != 0;
  return open_group(tree.slot.get(), name_of(sandbox) + (leaf ? "/init" : ""), result);
}

int Cgroups::open_process(uint64_t sandbox, uint64_t process, Fd& result) const {
  const Hierarchy& tree = hierarchies_[tree_];
  return tree.v2 ? open_group(tree.slot.get(), name_of(sandbox, process), result) : 0;
}

int Cgroups::enter_sandbox(uint64_t sandbox) const {
  for (const Hierarchy& hierarchy : hierarchies_) {
    if (hierarchy.v2) continue;
    const std::string directory = hierarchy.per_sandbox() ? name_of(sandbox) : ".";
    if (const int error = enter_v1(hierarchy.slot.get(), directory)) return error;
  }
  return 0;
}

int Cgroups::enter_process(uint64_t sandbox, uint64_t process) const {
  for (size_t i = 0; i < hierarchies_.size(); ++i) {
    const Hierarchy& hierarchy = hierarchies_[i];
    if (hierarchy.v2) continue;
    const std::string directory = i == tree_                ? name_of(sandbox, process)
                                  : hierarchy.per_sandbox() ? name_of(sandbox)
                                                            : ".";
    if (const int error = enter_v1(hierarchy.slot.get(), directory)) return error;
  }
  return 0;
}

void Cgroups::kill_sandbox(uint64_t sandbox) const {
  kill_group(hierarchies_[tree_].slot.get(), name_of(sandbox));
}

void Cgroups::kill_process(uint64_t sandbox, uint64_t process) const {
  kill_group(hierarchies_[tree_].slot.get(), name_of(sandbox, process));
}

bool Cgroups::remove_process(uint64_t sandbox, uint64_t process) const {
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
         (cgroup_kill_ ? kFactCgroupKill : 0u) | (swap_off_ ? kFactMemorySwapOff : 0u) |
         (with(devices) != nullptr ? kFactDeviceCgroup : 0u) |
         (limits != nullptr ? kFactMemoryLimit : 0u) |
         (with(pids) != nullptr ? kFactPidsLimit : 0u) |
         (with(cpu) != nullptr ? kFactCpuLimit : 0u);
}

}  // namespace belljar::launcher
