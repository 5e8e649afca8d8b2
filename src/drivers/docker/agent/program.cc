#include "drivers/docker/agent/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "drivers/docker/agent/processes.h"

namespace belljar::agent {

namespace {

int result_of(int status) {
  return status >= 0 ? 0 : errno;
}

// The two descriptors that a program-to-be has besides its own three.
constexpr int kStatusFd = 3;
constexpr int kPackageFd = 4;

int enter_workspace(StartContext& context) {
  return result_of(::fchdir(context.workspace));
}

int arrange_descriptors(StartContext& context) {
  // Out of the way first: any of them may have one of these numbers.
  for (int* fd :
       {&context.input, &context.output, &context.errors, &context.status, &context.package}) {
    *fd = ::fcntl(*fd, F_DUPFD_CLOEXEC, 16);
    if (*fd < 0) return errno;
  }
  if (::dup2(context.input, 0) < 0 || ::dup2(context.output, 1) < 0 ||
      ::dup2(context.errors, 2) < 0 || ::dup3(context.status, kStatusFd, O_CLOEXEC) < 0 ||
      ::dup3(context.package, kPackageFd, O_CLOEXEC) < 0)
    return errno;
  context.status = kStatusFd;
  context.package = kPackageFd;
  return result_of(::close_range(kPackageFd + 1, kLastFd, 0));
}

int start_session(StartContext&) {
  if (::setsid() < 0) return errno;
  ::umask(022);
  // By the kernel's own structure: libc keeps two signals for itself.
  struct {
    void* handler;
    unsigned long flags, restorer, mask;
  } by_default{};
  for (int signal = 1; signal <= 64; ++signal)
    ::syscall(SYS_rt_sigaction, signal, &by_default, nullptr, 8);
  sigset_t none;
  sigemptyset(&none);
  return result_of(::sigprocmask(SIG_SETMASK, &none, nullptr));
}

// The container has a limit of its own, 1, which the kernel takes for "not even to a program that
// reads them" (core(5)), and a seccomp filter that forbids to change it.
int limit_core(StartContext&) {
  rlimit none{};
  if (::setrlimit(RLIMIT_CORE, &none) == 0) return 0;
  const int error = errno;
  rlimit now{2, 2};
  const bool is_none = ::syscall(SYS_getrlimit, RLIMIT_CORE, &now) == 0 && now.rlim_max <= 1;
  return is_none ? 0 : error;
}

int mark(StartContext& context) {
  return context.mark == 0 ? 0 : set_mark(context.mark);
}

// Puts a new file in the place of whatever is there: so nothing there (a FIFO, a link to a device)
// can hold this up. With the program's own rights, so that it can only harm itself.
int write_source(StartContext& context) {
  const StartCommand& command = context.command;
  if (command.source_path == nullptr) return 0;
  if (::unlink(command.source_path) != 0 && errno != ENOENT) return errno;
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const Fd file{::open(command.source_path, kFlags, 0644)};
  if (!file) return errno;
  off_t at = command.source_at;
  while (at < command.source_end) {
    const auto rest = static_cast<size_t>(command.source_end - at);
    const ssize_t sent = ::sendfile(file.get(), context.package, &at, rest);
    if (sent < 0) return errno;
    if (sent == 0) return EIO;
  }
  return 0;
}

bool is_missing_node(const char* path) {
  return std::strcmp(path, kNode) == 0 && ::access(path, F_OK) != 0;
}

int find_node(StartContext& context) {
  char*& path = context.command.argv[0];
  if (!is_missing_node(path)) return 0;
  if (context.node.empty()) return ENOENT;
  path = const_cast<char*>(context.node.c_str());
  return 0;
}

int execute(StartContext& context) {
  ::execve(context.command.argv[0], context.command.argv.data(), context.command.envp.data());
  return errno;
}

struct StartStep {
  Step step;
  int (*run)(StartContext&);
};

constexpr StartStep kSteps[] = {
    {Step::enter_workspace, enter_workspace},
    {Step::arrange_descriptors, arrange_descriptors},
    {Step::limit_core, limit_core},
    {Step::make_process, mark},
    {Step::write_source, write_source},
    {Step::find_node, find_node},
    {Step::start_session, start_session},  // from here on a signal can end it
    {Step::execute, execute},
};

[[noreturn]] void become_program(StartContext context, pid_t supervisor) {
  // Whoever kills the supervisor has not got rid of it: the program ends, too.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != supervisor) ::_exit(125);
  for (const StartStep& each : kSteps) {
    const int error = each.run(context);
    if (error == 0) continue;
    const StartFailure failure{each.step, error};
    [[maybe_unused]] const ssize_t ignored = ::write(context.status, &failure, sizeof failure);
    ::_exit(125);
  }
  ::_exit(125);
}

void report_end(int pipe, int status, const rusage& usage) {
  constexpr uint64_t kMicros = 1000000;
  EndReport report{};
  report.status = status;
  report.cpu_micros =
      static_cast<uint64_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * kMicros +
      static_cast<uint64_t>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  report.max_rss = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  [[maybe_unused]] const ssize_t ignored = ::write(pipe, &report, sizeof report);
}

// All signals are blocked here, as in the agent: only SIGKILL and SIGSTOP of a hostile program
// reach it, and the agent notices these.
[[noreturn]] void supervise(StartContext context, int end) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const pid_t self = ::getpid();
  const pid_t program = ::fork();
  if (program == 0) become_program(context, self);
  if (program < 0) {
    const StartFailure failure{Step::make_process, errno};
    [[maybe_unused]] const ssize_t ignored = ::write(context.status, &failure, sizeof failure);
    ::_exit(0);
  }
  ::dup2(end, kStatusFd);
  ::close_range(0, kStatusFd - 1, 0);
  ::close_range(kStatusFd + 1, kLastFd, 0);
  for (;;) {
    int status = 0;
    rusage usage{};
    const pid_t ended = ::wait4(-1, &status, __WALL, &usage);
    if (ended == program) report_end(kStatusFd, status, usage);
    if (ended < 0 && errno != EINTR) ::_exit(0);
  }
}

int make_pipe(Fd& read, Fd& write) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
  read.reset(ends[0]);
  write.reset(ends[1]);
  return result_of(::fcntl(ends[0], F_SETFL, O_NONBLOCK));
}

}  // namespace

int start_program(StartContext context, Started& started) {
  Fd status;
  Fd end;
  if (const int error = make_pipe(started.failure, status)) return error;
  if (const int error = make_pipe(started.end, end)) return error;
  context.status = status.get();
  context.score.raise();
  started.supervisor = ::fork();
  if (started.supervisor == 0) supervise(context, end.get());
  const int error = result_of(started.supervisor);
  context.score.restore();
  return error;
}

}  // namespace belljar::agent
