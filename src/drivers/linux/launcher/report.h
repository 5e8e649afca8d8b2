#pragma once

#include <sys/types.h>

#include <vector>

#include "base/fd.h"
#include "drivers/linux/launcher/weak.h"

namespace belljar::launcher {

// A step of a containment sequence: returns 0 or an errno. The order of the steps is the security
// argument.
template <class Context>
struct Step {
  const char* name;
  int (*run)(Context&);
};

// What a forked child tells the launcher through its status pipe, or a socket where descriptors go
// along. It is close-on-exec: end of file after a pid means that the program was executed.
struct Report {
  enum Kind : int { pid, ready, begun, failed, mapped };
  Kind kind;
  int error;
  pid_t number;
  char step[48];
};

void report_pid(int pipe, pid_t pid);
void report_ready(int pipe);
void report_begun(int pipe);  // one that was ready has its program
void report_ready(int socket, const std::vector<int>& fds);
void report_mapped(int socket, int ids);  // a user namespace: see make_owner_map()
[[noreturn]] void report_failure_and_exit(int pipe, const char* step, int error);

// As read() and recv() do, with what came along.
ssize_t receive_report(int socket, Report& report, std::vector<Fd>& fds);

// Runs the steps in order. The first that fails is reported on `context.status`, and the process
// ends.
template <class Context, size_t N>
void run_steps(const Step<Context> (&steps)[N], Context& context) {
  for (const Step<Context>& step : steps) {
    if (is_left_out(step.name)) continue;
    if (const int error = step.run(context); error != 0)
      report_failure_and_exit(context.status, step.name, error);
  }
}

}  // namespace belljar::launcher
