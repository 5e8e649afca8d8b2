// Packages that are brought into a sandbox which is there already.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/launcher.h"
#include "drivers/linux/launcher/packages.h"

namespace belljar::launcher {

namespace {

// One directory of packages as the launcher sees it. 0, or an errno and the step that failed.
int find_packages(const Place& place, const Trust& trust, int given, Fd& directory, Owner& owner,
                  const char*& step) {
  step = "use these packages";
  if (!trust.allows_packages(given)) return EPERM;
  step = "find the packages";
  if (const int error = find_here(place, given, directory)) return error;
  struct stat info;
  if (::fstat(directory.get(), &info) != 0) return errno;
  owner = {info.st_uid, info.st_gid};
  return 0;
}

}  // namespace

void Launcher::mount(const Message& message) {
  const Request& request = message.request;
  const auto at = jars_.find(request.sandbox);
  if (at == jars_.end() || !at->second->ready || at->second->doomed)
    return answer(request, ESRCH, "find the sandbox");
  Jar& jar = *at->second;
  if (jar.mounting) return answer(request, EBUSY, "mount packages one after the other");
  Fd directories[2];
  Owner owners[2];
  for (size_t i = 0; i < message.fds.size(); ++i) {
    const char* step = "";
    if (const int error =
            find_packages(place_, trust_, message.fds[i].get(), directories[i], owners[i], step))
      return answer(request, error, step);
  }
  const Owner& owner = owners[0];
  if (directories[1] && owners[1] != owner)
    return answer(request, EPERM, "use packages of two owners");
  if (place_.is_root) packages_owner_ = owner;  // others' mounts have the owners they have
  const int map = jar.packages_owner == owner ? jar.packages_map.get() : -1;
  Fd group;
  if (const int error = cgroups_.open_sandbox(jar.id, group))
    return answer(request, error, "open the cgroup");
  int status[2] = {-1, -1};
  if (::pipe2(status, O_CLOEXEC | O_NONBLOCK) != 0) return answer(request, errno, "make a pipe");
  jar.mounting.reset(status[0]);
  const Fd theirs{status[1]};
  const pid_t helper = clone_process(0, group.get());
  if (helper == 0) {
    mount_packages({cgroups_, place_, jar.init, jar.init_pidfd.get(), jar.ids, jar.id, jar.limits,
                    directories[0].get(), directories[1].get(), map, theirs.get(), Fd{}, Fd{}, Fd{},
                    Fd{}, Fd{}, Fd{}});
  }
  if (helper < 0) {
    const int error = errno;
    jar.mounting.reset();
    return answer(request, error, "start the helper");
  }
  jar.mount_serial = request.serial;
  busy_.insert(jar.id);
}

void Launcher::on_mount_status(Jar& jar) {
  Report report{};
  const ssize_t size = ::read(jar.mounting.get(), &report, sizeof report);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  jar.mounting.reset();
  const bool told = size == sizeof report;
  if (told && report.kind == Report::ready)
    return answer(ReplyType::done, jar.mount_serial, jar.id, 0, "");
  // A step failed, or the sandbox has no memory left even for this, and it was killed.
  answer(ReplyType::failed, jar.mount_serial, jar.id, told ? report.error : ECHILD,
         told ? report.step : "mount packages");
}

}  // namespace belljar::launcher
