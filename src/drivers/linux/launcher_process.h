#pragma once

#include <string>

#include "base/fd.h"

namespace belljar::linux_driver {

// What programs are started by, open for reading: later it may be out of reach.
struct LauncherFiles {
  Fd program;
  Fd library;  // what makes a Node.js a zygote; empty if it is not there
};

// The running launcher: our end of the socket to it, and a handle to see it end. Closing the socket
// tells it to destroy everything and exit.
struct LauncherProcess {
  Fd socket;
  Fd pidfd;
  LauncherFiles files{};
};

// Starts the launcher. Called once, first thing in main(): later there are threads and sockets, and
// belljar never forks again. It starts with an empty environment and does nothing until it is
// asked.
LauncherProcess start_launcher(const std::string& path);

// Where the launcher of this build or installation is.
std::string launcher_path();

}  // namespace belljar::linux_driver
