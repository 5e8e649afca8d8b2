#include "drivers/linux/launcher/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/fd.h"
#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/kernel.h"

namespace belljar::launcher {

namespace {

constexpr int kMaxLooks = 1000;

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

void kill_namespace(int init_pidfd, int own_pid_namespace) {
  if (::setns(init_pidfd, CLONE_NEWPID) != 0) return;
  const pid_t child = clone_process(0);
  if (child == 0) {
    ::kill(-1, SIGKILL);  // all but itself and init; nothing in there may signal it
    ::_exit(0);
  }
  // Without the way back every later child would be born in this sandbox.
  if (::setns(own_pid_namespace, CLONE_NEWPID) != 0) ::_exit(1);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

void kill_family(int proc, pid_t init, const std::vector<pid_t>& others) {
  const uint64_t sandbox = pid_namespace_of(proc, init);
  const auto is_other = [&others](pid_t pid) {
    return std::find(others.begin(), others.end(), pid) != others.end();
  };
  bool found = sandbox != 0;
  for (int look = 0; found && look < kMaxLooks; ++look) {
    found = false;
    const auto processes = list_processes(proc);
    for (const auto& [pid, info] : processes) {
      if (pid == init || info.pid_namespace != sandbox) continue;
      pid_t ancestor = pid;
      for (auto at = processes.find(pid); at != processes.end() && !is_other(ancestor);) {
        if (at->second.pid_namespace != sandbox || at->first == init) break;
        ancestor = at->second.parent;
        at = processes.find(ancestor);
      }
      if (is_other(pid) || is_other(ancestor)) continue;
      found = ::kill(pid, SIGKILL) == 0 || found;
    }
  }
}

}  // namespace belljar::launcher
