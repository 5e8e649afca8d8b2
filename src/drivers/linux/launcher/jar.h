#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/fd.h"
#include "drivers/linux/launcher/create.h"
#include "drivers/linux/launcher/message.h"
#include "drivers/linux/launcher/protocol.h"

// What the launcher knows of the things it has made.
namespace belljar::launcher {

struct Program {
  uint64_t sandbox = 0;
  uint64_t id = 0;
  uint32_t serial = 0;  // of the start request, while it is unanswered
  pid_t pid = -1;       // 0 once it is reaped
  Fd status;
  bool answered = false;
  bool out_of_memory = false;
  bool ended = false;  // reaped; `exited` is sent once the start is answered
  int wait_status = 0;
  rusage usage{};
  uint64_t zygote = 0;               // whose copy it is, while its pid is not known yet
  Fd job;                            // where a copy waits for its program
  std::unique_ptr<Message> message;  // the program, until there is the copy
  bool unwanted = false;             // it is not to begin
  bool takes_job = false;            // it is a copy, or was executed to wait for its program
  bool waits = false;                // a copy says that it is ready for its program
};

struct Zygote {
  uint64_t id = 0;      // also the name of its cgroup
  uint64_t number = 0;  // no other ever has it
  uint32_t image = 0;
  SandboxLimits limits{};
  uint32_t serial = 0;  // of the request, until it is ready
  pid_t pid = -1;
  Fd control;
  Fd status;             // until it is executed
  bool retired = false;  // it makes no copies but those it was asked for
  bool ended = false;
};

struct Jar {  // one sandbox
  uint64_t id = 0;
  uint32_t image = 0;
  uint32_t create_serial = 0;
  uint32_t destroy_serial = 0;
  SandboxLimits limits{};
  unsigned id_block = 0;
  SandboxIds ids;
  pid_t init = 0;
  Fd init_pidfd;
  Fd status;    // while it is being made
  Fd mounting;  // the status of a helper that brings packages, while there is one
  uint32_t mount_serial = 0;
  std::optional<Owner> packages_owner;
  Fd packages_map;   // that of this owner, if there is one
  Fd out_of_memory;  // signalled when it is; see Cgroups
  bool ready = false;
  bool doomed = false;  // to be destroyed as soon as that is possible
  bool init_ended = false;
  uint64_t oom_kills = 0;
  std::map<uint64_t, std::unique_ptr<Program>> programs;
  std::vector<uint64_t> leftovers;  // ended programs whose children may live on

  bool is_quiet() const { return !status && !mounting && programs.empty() && !doomed; }
};

}  // namespace belljar::launcher
