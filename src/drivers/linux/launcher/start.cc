#include "drivers/linux/launcher/start.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "drivers/linux/launcher/confine.h"
#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/fork_request.h"
#include "drivers/linux/launcher/posture.h"
#include "drivers/linux/launcher/processors.h"
#include "drivers/linux/launcher/report.h"

namespace belljar::launcher {

namespace {

int result_of(int status) {
  return status == 0 ? 0 : errno;
}

// Born in the sandbox's pid namespace, but with the launcher's rights: nothing in there can signal
// or look into it.

int look_around(StartContext& context) {
  return look_outside(context.outside);
}

int enter_cgroups(StartContext& context) {
  return context.cgroups.enter_process(context.sandbox, context.process);
}

int prefer_as_oom_victim(StartContext&) {
  return write_file_at(AT_FDCWD, "/proc/self/oom_score_adj", "900");
}

int hand_over_stdio(StartContext& context) {
  for (const int fd : {context.input, context.output, context.errors}) {
    if (const int error = give_pipe(fd, context.ids.node_here)) return error;
  }
  return 0;
}

int pin(StartContext& context) {
  if (context.job >= 0) return 0;  // when it has its program
  cpu_set_t chosen;
  const unsigned here = static_cast<unsigned>(std::max(0, ::sched_getcpu()));
  if (const int error =
          choose_processors(context.programs_per_cpu, here, context.limits.cpu_millis, chosen))
    return error;
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
  int* const moved[] = {&context.input,  &context.output, &context.errors, &context.status,
                        &context.source, &context.job,    &context.library};
  for (int* fd : moved) {
    if (*fd < 0) continue;
    *fd = ::fcntl(*fd, F_DUPFD_CLOEXEC, 64);
    if (*fd < 0) return errno;
  }
  if (::dup2(context.input, 0) < 0 || ::dup2(context.output, 1) < 0 ||
      ::dup2(context.errors, 2) < 0)
    return errno;
  std::vector<int> keep{0, 1, 2};
  if (context.job >= 0) {
    if (::dup2(context.job, kParkedJobFd) < 0 || ::dup2(context.status, kParkedStatusFd) < 0 ||
        ::dup2(context.library, kParkedLibraryFd) < 0)
      return errno;
    context.status = kParkedStatusFd;
    keep.insert(keep.end(), {kParkedJobFd, kParkedLibraryFd});
  }
  keep.push_back(context.status);
  if (context.source >= 0) keep.push_back(context.source);
  std::sort(keep.begin(), keep.end());
  return close_all_but(keep.data(), keep.size());
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

// With the program's own rights, so that whatever waits at that path can only harm the program
// itself.
int write_source(StartContext& context) {
  return context.source < 0 ? 0 : replace_file(context.source_path, context.source);
}

int close_source(StartContext& context) {
  if (context.source >= 0) ::close(context.source);
  return 0;
}

int load_program_filters(StartContext& context) {
  return load_filters(context.filters);
}

int check(StartContext& context) {
  const bool by_cgroup = (context.cgroups.facts() & kFactPidsLimit) != 0;
  const int expected[] = {context.status, kParkedJobFd, kParkedLibraryFd};
  const size_t count = context.job < 0 ? 1 : 3;
  return check_posture({context.outside, context.limits, by_cgroup, {expected, count}},
                       context.status);
}

int execute(StartContext& context) {
  ::execve(context.argv[0], context.argv.data(), context.envp.data());
  return errno;
}

constexpr Step<StartContext> kSteps[] = {
    {"look around", look_around},
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
