#include "drivers/linux/launcher/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/fd.h"
#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/kernel.h"

namespace belljar::launcher {

namespace {

constexpr uint64_t kMillisToKill = 300;

// "12 (any ) name) S 7 …": the name may contain anything, but the last ")" ends it. False if the
// process has ended and only waits for somebody to notice.
bool read_stat(const std::string& stat, pid_t& parent) {
  const size_t end = stat.rfind(')');
  char state = 'Z';
  if (end == std::string::npos ||
      std::sscanf(stat.c_str() + end + 1, " %c %d", &state, &parent) != 2)
    return false;
  return state != 'Z' && state != 'X';
}

uint64_t memory_in(const std::string& statm) {
  unsigned long resident = 0;
  unsigned long shared = 0;
  if (std::sscanf(statm.c_str(), "%*u %lu %lu", &resident, &shared) != 2) return 0;
  return (resident - std::min(resident, shared)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

uint64_t pid_namespace_of(int proc, pid_t pid) {
  struct stat info;
  const std::string path = std::to_string(pid) + "/ns/pid";
  return ::fstatat(proc, path.c_str(), &info, 0) == 0 ? info.st_ino : 0;
}

std::map<pid_t, ProcessInfo> list_processes(int proc) {
  std::map<pid_t, ProcessInfo> result;
  DIR* entries = ::fdopendir(::openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (entries == nullptr) return result;
  while (const dirent* entry = ::readdir(entries)) {
    const pid_t pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid <= 0) continue;
    const std::string name = entry->d_name;
    ProcessInfo info;
    if (!read_stat(read_file_at(proc, (name + "/stat").c_str()), info.parent)) continue;
    info.memory = memory_in(read_file_at(proc, (name + "/statm").c_str()));
    info.pid_namespace = pid_namespace_of(proc, pid);
    result.emplace(pid, info);
  }
  ::closedir(entries);
  return result;
}

namespace {

// True if the process, or one that it descends from within the sandbox, is among `spared`.
bool is_spared(const std::map<pid_t, ProcessInfo>& processes, pid_t pid, uint64_t sandbox,
               const std::vector<pid_t>& spared) {
  for (auto at = processes.find(pid); at != processes.end(); at = processes.find(pid)) {
    if (at->second.pid_namespace != sandbox) return false;
    if (std::find(spared.begin(), spared.end(), pid) != spared.end()) return true;
    pid = at->second.parent;
  }
  return false;
}

}  // namespace

bool kill_processes(int proc, pid_t init, const std::vector<pid_t>& spared) {
  const uint64_t sandbox = pid_namespace_of(proc, init);
  const uint64_t give_up = now_millis() + kMillisToKill;
  while (sandbox != 0) {
    bool found = false;
    const auto processes = list_processes(proc);
    for (const auto& [pid, info] : processes) {
      if (pid == init || info.pid_namespace != sandbox) continue;
      if (is_spared(processes, pid, sandbox, spared)) continue;
      found = ::kill(pid, SIGKILL) == 0 || found;
    }
    if (!found) return true;
    if (now_millis() > give_up) return false;
  }
  return true;
}

}  // namespace belljar::launcher
