#include "drivers/linux/zygote/enter.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "drivers/linux/launcher/confine.h"
#include "drivers/linux/launcher/report.h"

namespace belljar::zygote {

using namespace launcher;

namespace {

int result_of(int status) {
  return status == 0 ? 0 : errno;
}

int look_around(EnterContext& context) {
  return look_outside(context.outside);
}

// With descriptors that the launcher opened: the kernel asks for the rights of who opened them.
int enter_cgroups(EnterContext& context) {
  const size_t first = kForkFds + (context.request.has_group != 0 ? 1 : 0);
  for (size_t i = first; i < context.fds.size(); ++i) {
    if (::write(context.fds[i], "0", 1) != 1) return errno;
  }
  return 0;
}

int enter_namespaces(EnterContext& context) {
  // The user namespace first: it gives the rights over the others, and takes those of the zygote.
  for (const int which : {kForkUser, kForkMounts, kForkNetwork, kForkIpc, kForkHost}) {
    if (::setns(context.fds[static_cast<size_t>(which)], 0) != 0) return errno;
  }
  return result_of(::unshare(CLONE_NEWCGROUP));
}

// Nothing that is open stays shared with the zygote. libuv closes its own numbers later, so they
// must not be free until then.
int arrange_descriptors(EnterContext& context) {
  for (size_t i = 0; i < context.fds.size(); ++i) {
    if (i != kForkStatus && i != kForkJob) ::close(context.fds[i]);
  }
  context.placeholder = ::memfd_create("placeholder", MFD_CLOEXEC);
  if (context.placeholder < 0) return errno;
  for (const OwnFd& own : context.own_fds) {
    struct stat info;
    if (own.number <= 2 || ::fstat(own.number, &info) != 0) continue;
    // libuv has replaced the pipe of its signal handlers already, in the fork.
    if (S_ISFIFO(info.st_mode) && info.st_ino != own.inode) continue;
    if (::dup3(context.placeholder, own.number, O_CLOEXEC) < 0) return errno;
  }
  return 0;
}

// Dispositions stay as Node.js has set them.
int start_session(EnterContext&) {
  if (::setsid() < 0) return errno;
  ::umask(022);
  sigset_t none;
  sigemptyset(&none);
  return result_of(::sigprocmask(SIG_SETMASK, &none, nullptr));
}

int limit_resources(EnterContext& context) {
  return set_resource_limits(context.request.limits, context.request.cgroup_counts_processes != 0);
}

int drop_to_node(EnterContext& context) {
  return drop_privileges(kNodeId, context.request.has_own_ids != 0);
}

int die_with_launcher(EnterContext&) {
  return result_of(::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
}

int go_to_workspace(EnterContext&) {
  return result_of(::chdir("/workspace"));
}

int apply_landlock(EnterContext&) {
  unsigned abi = 0;
  return restrict_files(abi);
}

int load_program_filters(EnterContext& context) {
  return load_filters(context.filters);
}

int check(EnterContext& context) {
  std::vector<int> expected{context.status, context.job, context.placeholder};
  for (const OwnFd& own : context.own_fds) expected.push_back(own.number);
  const bool by_cgroup = context.request.cgroup_counts_processes != 0;
  return check_posture({context.outside, context.request.limits, by_cgroup, expected},
                       context.status);
}

constexpr Step<EnterContext> kSteps[] = {
    {"look around", look_around},
    {"enter the cgroups", enter_cgroups},
    {"enter the sandbox", enter_namespaces},
    {"arrange descriptors", arrange_descriptors},
    {"start a session", start_session},
    {"limit resources", limit_resources},
    {"drop privileges", drop_to_node},
    {"die with the launcher", die_with_launcher},
    {"go to /workspace", go_to_workspace},
    {"apply Landlock", apply_landlock},
    {"load the seccomp filters", load_program_filters},  // what follows must be on the list
    {"check the posture", check},
};

}  // namespace

std::vector<OwnFd> list_own_fds() {
  std::vector<OwnFd> fds;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries{::opendir("/proc/self/fd"), ::closedir};
  if (!entries) return fds;
  while (const dirent* entry = ::readdir(entries.get())) {
    const int number = std::atoi(entry->d_name);
    struct stat info;
    if (entry->d_name[0] == '.' || number == ::dirfd(entries.get())) continue;
    if (::fstat(number, &info) == 0) fds.push_back({number, info.st_ino});
  }
  return fds;
}

void enter_sandbox(EnterContext& context) {
  run_steps(kSteps, context);
}

void close_placeholders(const EnterContext& context) {
  struct stat wanted;
  if (::fstat(context.placeholder, &wanted) != 0) return;
  for (const OwnFd& own : context.own_fds) {
    struct stat info;
    if (::fstat(own.number, &info) != 0) continue;
    if (info.st_ino == wanted.st_ino && info.st_dev == wanted.st_dev) ::close(own.number);
  }
  ::close(context.placeholder);
}

}  // namespace belljar::zygote
