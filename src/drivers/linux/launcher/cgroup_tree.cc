#include "drivers/linux/launcher/cgroup_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/fd.h"
#include "drivers/linux/launcher/files.h"

namespace belljar::launcher {

bool exists(int directory, const std::string& path) {
  return ::faccessat(directory, path.c_str(), F_OK, 0) == 0;
}

namespace {

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

}  // namespace

void kill_group(int directory, const std::string& path) {
  if (write_file_at(directory, (path + "/cgroup.kill").c_str(), "1") == 0) return;
  if (exists(directory, path + "/freezer.state")) return freeze_and_kill(directory, path);
}

bool remove_tree(int directory, const std::string& path) {
  const Fd opened{::openat(directory, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!opened) return errno == ENOENT;
  DIR* entries = ::fdopendir(::fcntl(opened.get(), F_DUPFD_CLOEXEC, 0));
  if (entries == nullptr) return false;
  while (const dirent* entry = ::readdir(entries)) {
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
      remove_tree(opened.get(), entry->d_name);
  }
  ::closedir(entries);
  if (::unlinkat(directory, path.c_str(), AT_REMOVEDIR) == 0) return true;
  return errno == ENOENT;
}

std::string own_cgroup_v2() {
  const std::string own = read_file_at(AT_FDCWD, "/proc/self/cgroup");
  const size_t at = own.rfind("0::/");
  if (at == std::string::npos || (at > 0 && own[at - 1] != '\n')) return {};
  const std::string path = own.substr(at + 3, own.find('\n', at) - at - 3);
  for (const char* mount_point : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    const std::string group = mount_point + path;
    if (exists(AT_FDCWD, group + "/cgroup.procs") &&
        exists(AT_FDCWD, group + "/cgroup.controllers"))
      return group;
  }
  return {};
}

}  // namespace belljar::launcher
