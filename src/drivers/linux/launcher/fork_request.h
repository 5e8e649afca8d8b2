#pragma once

#include "drivers/linux/launcher/protocol.h"

// What the launcher and a zygote say to each other, over a SOCK_SEQPACKET pair. A zygote is a
// Node.js that makes copies of itself which enter sandboxes: see drivers/linux/zygote.
namespace belljar::launcher {

// The descriptor on which a zygote finds its end.
constexpr int kZygoteControlFd = 3;

// Those on which a Node.js that is executed to wait for one program finds what it needs: the socket
// on which the program arrives, the status pipe, the library.
constexpr int kParkedJobFd = 3;
constexpr int kParkedStatusFd = 4;
constexpr int kParkedLibraryFd = 5;

// The first packet, from the launcher: the two seccomp filters follow, each as an array of
// instructions.
struct ZygoteSetup {
  uint32_t arguments;  // how many instructions
  uint32_t names;
};

// A copy for one program. The program itself arrives later, as a `start` request on `job`.
struct ForkRequest {
  uint64_t sandbox;
  uint64_t process;
  SandboxLimits limits;
  uint32_t has_own_ids;
  uint32_t cgroup_counts_processes;
  uint32_t has_group;   // a v2 group to be born in
  uint32_t tasks;       // how many v1 groups to enter
  uint32_t is_awaited;  // the program follows at once
  uint32_t unused;
};

// The descriptors that come with it, in this order; then the v2 group, and the `tasks` files.
enum ForkFd {
  kForkPid,  // namespaces of the sandbox
  kForkUser,
  kForkMounts,
  kForkNetwork,
  kForkIpc,
  kForkHost,
  kForkStatus,  // the write end of the status pipe
  kForkJob,     // a socket
  kForkFds,
};
constexpr uint32_t kMostTasks = 7;

// The zygote's answer to both. After the setup: it is ready. After a request: the copy's pid, as
// the launcher's pid namespace numbers it; or why there is none.
struct ForkReply {
  uint64_t sandbox;
  uint64_t process;
  int32_t pid;
  int32_t error;
};

}  // namespace belljar::launcher
