// belljar-launcher: started by belljar with a socket on descriptor 3. Not for use by hand.
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "drivers/linux/launcher/launcher.h"

int main(int argc, char** argv) {
  using belljar::launcher::kControlFd;
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(kControlFd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) {
    std::fputs("belljar-launcher is started by belljar and does nothing by itself.\n", stderr);
    return 2;
  }
  // What enters a sandbox is a copy of this process: nothing in the sandbox may look into it.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::signal(SIGPIPE, SIG_IGN);
  // A terminal's Ctrl-C goes to belljar, whose end is ours.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  // posix_spawn() leaves the two signals that libc keeps for itself ignored, and programs would
  // inherit that.
  struct {
    void* handler;
    unsigned long flags, restorer, mask;
  } by_default{};
  for (const int signal : {32, 33}) ::syscall(SYS_rt_sigaction, signal, &by_default, nullptr, 8);
  ::umask(022);
  if (::chdir("/") != 0) return 1;
  ::setenv("PATH", "/usr/bin:/bin", 1);
  return belljar::launcher::Launcher{kControlFd, belljar::launcher::find_place(argc, argv)}.run();
}
