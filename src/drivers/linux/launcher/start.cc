#include "drivers/linux/launcher/start.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <cerrno>

#include "drivers/linux/launcher/confine.h"
#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/report.h"

namespace belljar::launcher {

namespace {

int result_of(int status) {
  return status == 0 ? 0 : errno;
}

// Born in the sandbox's pid namespace, but with the launcher's rights: nothing in there can signal
// or look into it.

int enter_cgroups(StartContext& context) {
  return context.cgroups.enter_process(context.sandbox, context.process);
}

int prefer_as_oom_victim(StartContext&) {
  return write_file_at(AT_FDCWD, "/proc/self/oom_score_adj", "900");
}

// So that a program may open /dev/stdout: the pipe then belongs to its own uid.
int hand_over_stdio(StartContext& context) {
  for (const int fd : {context.input, context.output, context.errors}) {
    // Only pipes without a name: a FIFO on some disk may be anybody's.
    struct statfs info;
    if (::fstatfs(fd, &info) != 0) return errno;
    const unsigned node = context.ids.node_here;
    if (info.f_type == PIPEFS_MAGIC && ::fchown(fd, node, node) != 0) return errno;
  }
  return 0;
}

// The cgroup limits the time; the mask tells programs about it. libuv is said to read the cgroup's
// limit, but Node 20 to 26 do so neither in v1 nor in v2.
int pin(StartContext& context) {
  cpu_set_t available;
  cpu_set_t chosen;
  if (::sched_getaffinity(0, sizeof available, &available) != 0) return errno;
  CPU_ZERO(&chosen);
  unsigned wanted = std::max(1u, (context.limits.cpu_millis + 999) / 1000);
  // Beginning with the one it runs on: the scheduler has just chosen it, and moving costs time.
  const unsigned first = static_cast<unsigned>(std::max(0, ::sched_getcpu()));
  for (unsigned i = 0; i < CPU_SETSIZE && wanted > 0; ++i) {
    const unsigned cpu = (first + i) % CPU_SETSIZE;
    if (!CPU_ISSET(cpu, &available)) continue;
    CPU_SET(cpu, &chosen);
    --wanted;
  }
  return result_of(::sched_setaffinity(0, sizeof chosen, &chosen));
}

int enter_sandbox(StartContext& context) {
  constexpr int kNamespaces =
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  if (::setns(context.init, kNamespaces) != 0) return errno;
  // Not init's cgroup namespace but one of its own, in which the program's cgroup is the root.
  return result_of(::unshare(CLONE_NEWCGROUP));
}

// From here on without rights over anything outside, and non-dumpable until it is the program
// itself.

int arrange_descriptors(StartContext& context) {
  // Out of the way first: any of them may have the number 0, 1 or 2.
  int* const moved[] = {&context.input, &context.output, &context.errors, &context.status,
                        &context.source};
  for (int* fd : moved) {
    if (*fd < 0) continue;
    *fd = ::fcntl(*fd, F_DUPFD_CLOEXEC, 64);
    if (*fd < 0) return errno;
  }
  if (::dup2(context.input, 0) < 0 || ::dup2(context.output, 1) < 0 ||
      ::dup2(context.errors, 2) < 0)
    return errno;
  int keep[] = {0, 1, 2, context.status, context.source};
  const size_t count = context.source < 0 ? 4 : 5;
  std::sort(keep, keep + count);
  return close_all_but(keep, count);
}

int start_session(StartContext&) {
  if (::setsid() < 0) return errno;
  ::umask(022);
  return reset_signals();
}

int limit_resources(StartContext& context) {
  const bool by_cgroup = (context.cgroups.facts() & kFactPidsLimit) != 0;
  return set_resource_limits(context.limits, by_cgroup);
}

int drop_to_node(StartContext& context) {
  return drop_privileges(kNodeId, context.ids.are_own);
}

int die_with_launcher(StartContext&) {
  return result_of(::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
}

int go_to_workspace(StartContext&) {
  return result_of(::chdir("/workspace"));
}

int apply_landlock(StartContext&) {
  unsigned abi = 0;
  return restrict_files(abi);
}

// Written with the program's own rights, so that whatever waits at that path can only harm the
// program itself; and to a file of its own, so that nothing there (a FIFO, a link to a device) can
// hold this up.
int write_source(StartContext& context) {
  if (context.source < 0) return 0;
  if (::unlink(context.source_path) != 0 && errno != ENOENT) return errno;
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const Fd file{::open(context.source_path, kFlags, 0644)};
  if (!file) return errno;
  off_t at = 0;
  struct stat info;
  if (::fstat(context.source, &info) != 0) return errno;
  while (at < info.st_size) {
    const ssize_t sent =
        ::sendfile(file.get(), context.source, &at, static_cast<size_t>(info.st_size - at));
    if (sent < 0) return errno;
    if (sent == 0) return EIO;
  }
  return 0;
}

int close_source(StartContext& context) {
  if (context.source >= 0) ::close(context.source);
  return 0;
}

int load_program_filters(StartContext& context) {
  return load_filters(context.filters);
}

int check(StartContext& context) {
  return check_posture(context.ids.are_own);
}

int execute(StartContext& context) {
  ::execve(context.argv[0], context.argv.data(), context.envp.data());
  return errno;
}

constexpr Step<StartContext> kSteps[] = {
    {"enter the cgroups", enter_cgroups},
    {"set the OOM score", prefer_as_oom_victim},
    {"hand over stdin, stdout and stderr", hand_over_stdio},
    {"limit the processors", pin},
    {"enter the sandbox", enter_sandbox},
    {"arrange descriptors", arrange_descriptors},
    {"start a session", start_session},
    {"limit resources", limit_resources},
    {"drop privileges", drop_to_node},
    {"die with the launcher", die_with_launcher},
    {"go to /workspace", go_to_workspace},
    {"apply Landlock", apply_landlock},
    {"write the source file", write_source},
    {"close the source file", close_source},
    {"load the seccomp filters", load_program_filters},  // what follows must be on the list
    {"check the posture", check},
    {"execute", execute},
};

}  // namespace

void start_program(StartContext context) {
  run_steps(kSteps, context);
  ::_exit(125);
}

}  // namespace belljar::launcher
