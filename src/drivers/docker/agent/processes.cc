#include "drivers/docker/agent/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "base/fd.h"

namespace belljar::agent {

namespace {

struct Process {
  ProcessId id;
  pid_t parent = 0;
};

// "12 (any ) name) S 7 …": the name may contain anything, but the last ")" ends it. False if the
// process has ended, also if it only waits for somebody to notice.
bool read_process(pid_t pid, Process& process) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const Fd file{::open(path, O_RDONLY | O_CLOEXEC)};
  char text[1024];
  const ssize_t size = file ? ::read(file.get(), text, sizeof text - 1) : -1;
  if (size <= 0) return false;
  text[size] = '\0';
  const std::string_view whole{text, static_cast<size_t>(size)};
  const size_t end = whole.rfind(')');
  if (end == std::string_view::npos) return false;
  char state = 'Z';
  unsigned long long started = 0;
  // What is left out are the fields 5 to 21.
  constexpr const char* kFields =
      " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu";
  if (std::sscanf(text + end + 1, kFields, &state, &process.parent, &started) != 3) return false;
  process.id = {pid, started};
  return state != 'Z' && state != 'X';
}

// False if not even this process is among them.
bool list_processes(std::map<pid_t, Process>& processes) {
  DIR* entries = ::opendir("/proc");
  if (entries == nullptr) return false;
  while (const dirent* entry = ::readdir(entries)) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    Process process;
    if (pid > 0 && read_process(pid, process)) processes.emplace(pid, process);
  }
  ::closedir(entries);
  return processes.contains(::getpid());
}

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

uint64_t mark_of(pid_t pid) {
  rlimit limit{};
  if (::prlimit(pid, RLIMIT_NPROC, nullptr, &limit) != 0) return 0;
  return limit.rlim_max;
}

bool belongs_to(const Family& family, const std::map<pid_t, Process>& processes, pid_t pid) {
  if (pid == family.root) return false;
  // The look at all of them took a while, so that there may even be circles.
  for (size_t steps = 0; steps <= processes.size(); ++steps) {
    if (pid == family.root) return true;
    if (contains(family.apart, pid)) return false;
    const auto at = processes.find(pid);
    if (at == processes.end()) return false;
    pid = at->second.parent;
  }
  return false;
}

// Only if it is still the one that was seen.
void send_signal(const ProcessId& id, int signal) {
  const Fd handle{static_cast<int>(::syscall(SYS_pidfd_open, id.pid, 0))};
  if (!handle && errno == ESRCH) return;
  Process now;
  if (!read_process(id.pid, now) || now.id != id) return;
  if (handle && ::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0) == 0) return;
  ::kill(id.pid, signal);
}

}  // namespace

bool has_subreapers() {
  int is_one = 0;
  return ::prctl(PR_GET_CHILD_SUBREAPER, &is_one, 0, 0, 0) == 0 && is_one == 1;
}

uint64_t mark_of_program(uint64_t number) {
  constexpr uint64_t kLowest = 1 << 24;  // no kernel has so many processes
  return kLowest + number % kLowest;
}

int set_mark(uint64_t mark) {
  const rlimit limit{mark, mark};
  return ::setrlimit(RLIMIT_NPROC, &limit) == 0 ? 0 : errno;
}

bool find_family(const Family& family, std::vector<ProcessId>& found) {
  found.clear();
  std::map<pid_t, Process> processes;
  if (!list_processes(processes)) return false;
  for (const auto& [pid, process] : processes) {
    const bool is_marked = family.mark != 0 && mark_of(pid) == family.mark;
    if (is_marked || belongs_to(family, processes, pid)) found.push_back(process.id);
  }
  return true;
}

Hunt::Result Hunt::pass(const Family& family) {
  constexpr int kMostLooks = 64;
  constexpr int kMostPassesWithMore = 16;
  bool more = false;
  std::vector<ProcessId> found;
  for (int look = 0; look < kMostLooks; ++look) {
    if (!find_family(family, found)) return Result::lost;
    if (found.empty() && look == 0) return Result::over;
    bool is_first_sight = false;
    for (const ProcessId& id : found) {
      if (!seen_.insert(id).second) continue;
      is_first_sight = true;
      send_signal(id, SIGSTOP);
    }
    if (!is_first_sight) break;
    more = true;
  }
  for (const ProcessId& id : found) send_signal(id, SIGKILL);
  // One that was killed may take long to end: it is not lost for that.
  if (more && ++passes_with_more_ > kMostPassesWithMore) return Result::lost;
  return Result::goes_on;
}

bool kill_everything() {
  // Of anybody else this would reach beyond the container.
  if (::getpid() != 1) return false;
  ::kill(-1, SIGKILL);
  return true;
}

}  // namespace belljar::agent
