#include "drivers/linux/launcher_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <csignal>

#include "base/error.h"
#include "base/posix.h"
#include "drivers/linux/launcher/protocol.h"

namespace belljar::linux_driver {

std::string launcher_path() {
  return own_program("belljar-launcher");
}

namespace {

LauncherFiles open_files(const std::string& path) {
  const std::string library = path.substr(0, path.rfind('/') + 1) + "belljar-zygote.so";
  return {Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)},
          Fd{::open(library.c_str(), O_RDONLY | O_CLOEXEC)}};
}

}  // namespace

LauncherProcess start_launcher(const std::string& path) {
  int ends[2];
  sys(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends),
      "create the launcher's socket");
  LauncherProcess launcher{Fd{ends[0]}, Fd{}};
  Fd theirs{ends[1]};
  // dup2 onto itself would keep close-on-exec set.
  if (theirs.get() == launcher::kControlFd) {
    theirs.reset(sys(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, 10), "move the launcher's socket"));
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), launcher::kControlFd);
  // stdout carries the protocol; nothing else may write to it.
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, launcher::kControlFd + 1);
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t all;
  sigfillset(&all);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  std::string name = "belljar-launcher";
  char* const argv[] = {name.data(), nullptr};
  char* const empty[] = {nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, path.c_str(), &actions, &attributes, argv, empty);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) fail_errno(error, "start " + path);
  launcher.files = open_files(path);
  launcher.pidfd.reset(
      static_cast<int>(sys(::syscall(SYS_pidfd_open, pid, 0), "watch the launcher")));
  return launcher;
}

}  // namespace belljar::linux_driver
