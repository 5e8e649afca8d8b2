#pragma once

#include <vector>

#include "drivers/linux/launcher/seccomp.h"
#include "drivers/linux/zygote/enter.h"
#include "drivers/linux/zygote/exit_code.h"
#include "drivers/linux/zygote/node_abi.h"
#include "drivers/linux/zygote/random_state.h"
#include "drivers/linux/zygote/start_times.h"

namespace belljar::zygote {

// What the parts of this library know of their process.
struct State {
  NodeSymbols node{};
  ExitCode exit_code;
  RandomState random;
  StartTimes times;
  napi_env env = nullptr;
  uv_loop_s* loop = nullptr;
  napi_ref rehearse = nullptr;  // function (): runs a program of no consequence, then calls wait()
  napi_ref prepare = nullptr;   // function (pid, argv): makes the process look as if just started
  napi_ref run = nullptr;       // function (): what Node.js does with its main program
  napi_ref nothing = nullptr;   // function () {}
  launcher::SeccompFilters filters;
  std::vector<OwnFd> own_fds;
  bool has_own_workers = false;  // the platform's tasks go to worker_tasks.h
  int status = -1;               // of a copy, until it has its program
  int job = -1;
};
extern State* state;  // null until Node.js has loaded the library; never freed

}  // namespace belljar::zygote
