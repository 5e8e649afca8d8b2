#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"
#include "base/task.h"

namespace belljar::docker {

// Connects to the engine's socket for a belljar that has given up the right to: a process that
// keeps the rights of the start, and does nothing but to connect to this one address and to hand
// the connection over. What it is asked has no content that could be wrong.
class EngineDialer {
 public:
  // Starts the process. To be called while there is one thread, before anything is given up.
  explicit EngineDialer(const std::string& socket_path);
  ~EngineDialer();  // ends it
  EngineDialer(const EngineDialer&) = delete;
  EngineDialer& operator=(const EngineDialer&) = delete;

  struct Dialed {
    Fd connection;  // does not block
    int error = 0;  // errno, if there is none
  };

  // Error{unavailable} if the process was killed. Any number may wait: one connection is as good as
  // another.
  Task<Dialed> dial();

 private:
  Fd socket_;
  pid_t process_ = -1;
};

}  // namespace belljar::docker
