#include "drivers/linux/launcher/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/weak.h"

namespace belljar::launcher {

namespace {

// Links into the process's own directory, which its own namespaces govern.
constexpr const char* kVisible[] = {"self", "thread-self", "mounts", "net"};

// Entries that have a synthetic form, and where that is: made for the sandbox, or the same for all.
struct SyntheticFile {
  const char* name;
  const char* source;
};
constexpr SyntheticFile kSynthetic[] = {{"cpuinfo", "/tmp/proc/cpuinfo"},
                                        {"loadavg", "/loadavg"},
                                        {"meminfo", "/tmp/proc/meminfo"},
                                        {"stat", "/tmp/proc/stat"},
                                        {"uptime", "/uptime"}};

bool is_shown(const char* name) {
  const auto same = [name](const char* other) { return std::strcmp(name, other) == 0; };
  const auto made = [name](const SyntheticFile& file) { return std::strcmp(name, file.name) == 0; };
  return std::any_of(std::begin(kVisible), std::end(kVisible), same) ||
         std::any_of(std::begin(kSynthetic), std::end(kSynthetic), made);
}

unsigned visible_cpus(const SandboxLimits& limits) {
  const unsigned wanted = (limits.cpu_millis + 999) / 1000;
  const unsigned online = static_cast<unsigned>(::get_nprocs());
  return wanted < 1 ? 1 : wanted > online ? online : wanted;
}

}  // namespace

// An entry that is not found stays visible, so anything but a whole list is an error.
int find_proc_masks(ProcMasks& masks) {
  masks = {};
  const std::unique_ptr<DIR, int (*)(DIR*)> entries{::opendir("/proc"), ::closedir};
  if (!entries) return errno;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(entries.get());
    if (entry == nullptr) return errno;
    const char* name = entry->d_name;
    if (name[0] == '.' || (name[0] >= '0' && name[0] <= '9') || is_shown(name)) continue;
    struct stat info;
    if (::fstatat(::dirfd(entries.get()), name, &info, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    // Belongs to the host's root, whom a sandbox does not know: without a right for everybody it is
    // out of reach.
    if ((info.st_mode & 0007) == 0) continue;
    (S_ISDIR(info.st_mode) ? masks.directories : masks.files).emplace_back(name);
  }
}

int write_machine(int scratch, const SandboxLimits& limits, bool cgroup_v2) {
  const unsigned cpus = visible_cpus(limits);
  std::string stat = "cpu  0 0 0 0 0 0 0 0 0 0\n";
  std::string cpuinfo;
  for (unsigned i = 0; i < cpus; ++i) {
    const std::string number = std::to_string(i);
    stat += "cpu" + number + " 0 0 0 0 0 0 0 0 0 0\n";
    cpuinfo +=
        "processor\t: " + number + "\nmodel name\t: belljar virtual CPU\ncpu MHz\t\t: 1000.000\n\n";
  }
  stat += "intr 0\nctxt 0\nbtime 0\nprocesses 0\nprocs_running 1\nprocs_blocked 0\n";
  const std::string total = std::to_string(limits.memory / 1024);
  const std::string meminfo = "MemTotal:       " + total + " kB\nMemFree:        " + total +
                              " kB\nMemAvailable:   " + total +
                              " kB\nBuffers:        0 kB\nCached:         0 kB\n"
                              "SwapTotal:      0 kB\nSwapFree:       0 kB\n";
  const std::string memory = std::to_string(limits.memory) + "\n";
  const std::string cpu_max = std::to_string(limits.cpu_millis * 100) + " 100000\n";
  struct File {
    const char* path;
    const std::string& content;
  };
  const File proc[] = {{"proc/stat", stat}, {"proc/cpuinfo", cpuinfo}, {"proc/meminfo", meminfo}};
  // libuv looks for the limits where /proc/self/cgroup tells it, which shows the host's version.
  const File v2[] = {{"upper/sys/fs/cgroup/cpu.max", cpu_max},
                     {"upper/sys/fs/cgroup/memory.max", memory},
                     {"upper/sys/fs/cgroup/memory.high", memory}};
  const File v1[] = {{"upper/sys/fs/cgroup/memory/memory.limit_in_bytes", memory},
                     {"upper/sys/fs/cgroup/memory/memory.soft_limit_in_bytes", memory}};
  const char* directory = cgroup_v2 ? "upper/sys/fs/cgroup" : "upper/sys/fs/cgroup/memory";
  if (::mkdirat(scratch, "proc", 0755) != 0) return errno;
  if (const int error = create_directories_at(scratch, directory, 0755)) return error;
  const auto create = [scratch](const auto& files) {
    for (const File& file : files) {
      if (const int error = create_file_at(scratch, file.path, file.content, 0444)) return error;
    }
    return 0;
  };
  if (const int error = create(proc)) return error;
  return cgroup_v2 ? create(v2) : create(v1);
}

int make_proc(Fd& result) {
  for (const bool whole : {true, false}) {
    const Fd context{fsopen("proc")};
    if (context && !whole) fsconfig(context.get(), FSCONFIG_SET_STRING, "subset", "pid");
    if (context && fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr) == 0)
      result.reset(fsmount(context.get()));
    if (result) return 0;
  }
  return errno;
}

int mount_proc(const char* path, bool full) {
  const char* options = full ? "hidepid=invisible" : "hidepid=invisible,subset=pid";
  return ::mount("proc", path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) == 0 ? 0 : errno;
}

int cover_proc(const std::string& path, const ProcMasks& masks) {
  if (is_left_out("masks of /proc")) return 0;
  const auto cover = [&path](const char* source, const std::string& name) {
    return ::mount(source, (path + name).c_str(), nullptr, MS_BIND, nullptr) == 0 ? 0 : errno;
  };
  for (const SyntheticFile& file : kSynthetic) {
    if (const int error = cover(file.source, file.name)) return error;
  }
  for (const std::string& name : masks.files) {
    if (const int error = cover("/blank", name)) return error;
  }
  for (const std::string& name : masks.directories) {
    if (const int error = cover("/empty", name)) return error;
  }
  return 0;
}

}  // namespace belljar::launcher
