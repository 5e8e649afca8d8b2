#pragma once

namespace belljar {

// How a program of Node.js came to life.
enum class StartWay {
  exec,         // by executing Node.js
  fork,         // as a copy of a Node.js that had booted
  parked_fork,  // as a copy that was made ahead and waited in the sandbox
  parked_exec,  // as a Node.js that was executed ahead and waited in the sandbox
};

// "exec", "fork", "parked-fork", "parked-exec"
const char* name_of(StartWay way);

// How programs of Node.js may be started.
enum class NodeStart {
  automatic,    // by whatever is ready
  exec,         // always by executing Node.js
  fork,         // as copies, for which callers wait: for tests and measurements
  parked,       // as copies made ahead, for which callers wait: for tests and measurements
  parked_exec,  // by executing it ahead, for which callers wait: for tests and measurements
};

}  // namespace belljar
