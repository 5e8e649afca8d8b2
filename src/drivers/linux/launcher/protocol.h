#pragma once

#include <cstddef>
#include <cstdint>

// What belljar and the launcher say to each other: fixed structures over a SOCK_SEQPACKET pair, one
// message per packet, descriptors as SCM_RIGHTS. The launcher treats every message as hostile and
// checks it before use. No text is in it but argv, environment, paths and certificates.
namespace belljar::launcher {

// The descriptor on which the launcher finds its end of the socket pair.
constexpr int kControlFd = 3;

constexpr size_t kMaxPayload = 128 << 10;
constexpr uint32_t kMaxStrings = 4096;
constexpr size_t kMaxFds = 32;

enum class RequestType : uint32_t {
  prepare = 1,  // make the template of `image`. The payload: certificates that programs trust, PEM,
                // or nothing. fds: the runtime's prefix directory, or none
  create,   // a sandbox from `image` with `limits`. fds: the files directory, or none. The answer
            // has the sandbox's /workspace (O_PATH) and, with kGated, both sockets of its Gate
  start,    // a process in it. fds: stdin, stdout, stderr[, source file]
  kill,     // a process and all it started
  destroy,  // a sandbox
  socket,   // a TCP socket in its network. The answer has one fd
  seal,  // the first one, if at all: belljar is about to give up its rights and, as root, to become
         // `own_id`. Directories other than those that come with it are refused from then on. fds:
         // belljar's data directory, then files directories. The answer has one fd, the user
         // namespace that belljar enters to be able to read what sandboxes write, and one per files
         // directory, a view that belljar can read there; `sandbox` is the number of a bad one
  examine,  // try what sandboxes need of the kernel. The answer has `trials`
  zygote,   // start one of `image` and `limits`, unless there is one. `sandbox` is its number
  park,     // make this process ahead, to wait in the sandbox for a `start`: a copy of a zygote
  mount,    // packages at its /workspace/node_modules. fds: their directory[, one to show beneath]
};

// What `examine` tries, each in a child that is thrown away: see features.h.
enum class Trial : uint32_t {
  user_namespace,
  mount_namespace,
  pid_namespace,
  network_namespace,
  ipc_namespace,
  uts_namespace,
  cgroup_namespace,
  pivot_root,
  overlay,
  sized_tmpfs,
  full_proc,
  process_proc,
  seccomp,
  no_new_privs,
  openat2,
  close_range,
  pidfd,
  clone3,
  mount_api,
  landlock,
  id_mapped_mounts,
  gate,
};
constexpr size_t kTrials = static_cast<size_t>(Trial::gate) + 1;

struct SandboxLimits {
  uint64_t memory, disk, inodes;
  uint32_t cpu_millis;  // 1000 = one processor
  uint32_t pids;
};

enum RequestFlag : uint32_t {
  kInBackground = 1 << 0,  // create: nobody waits for it, so whatever else runs comes first
  kListening = 1 << 1,     // socket: bound to 127.0.0.1 at a free port and listening
  kIpv6 = 1 << 2,          // socket: of this family; otherwise IPv4
  kGated = 1 << 3,         // create: with the network that sandbox/gate.h describes
  kForked = 1 << 4,        // start: by a zygote, not by executing argv[0]
  kParked = 1 << 5,        // start: by the process of that number, which is parked
  kRenew = 1 << 6,         // zygote: another one, which takes the place of those there are
  kRetire = 1 << 7,        // zygote: no other; those there are end
  kExecuted = 1 << 8,      // park: Node.js, executed; not a copy
};

struct Request {
  RequestType type;
  uint32_t serial;  // echoed in the reply
  uint64_t sandbox;
  uint64_t process;
  uint32_t image;
  uint32_t argc;  // the payload: argc + envc strings[, the source's path]; each ends with NUL
  uint32_t envc;
  uint32_t flags;  // RequestFlag
  SandboxLimits limits;
  uint32_t own_id;  // seal: a uid and gid of the host
  uint32_t reserved;
};

enum class ReplyType : uint32_t {
  done = 1,     // the request with this serial succeeded
  failed,       // it did not: `step` and `error` say where and why
  exited,       // a process ended (no serial)
  died,         // a sandbox ended by itself: its init was killed (no serial)
  zygote_died,  // one that was ready did, and nobody asked for that (no serial)
};

// The step that fails where the files directory's file system has no id-mapped mounts.
constexpr const char* kMapOwnerStep = "map the owner of the files directory";
// Where the kernel has no transparent proxying for a network namespace.
constexpr const char* kGateStep = "lead the network to the gate";
// Where a program has put something that is no directory in the place of its packages.
constexpr const char* kPackagesPlaceStep = "use /workspace/node_modules";
// With EUSERS, where so many launchers run already that no ids are left.
constexpr const char* kTakeSlotStep = "take a slot among the launchers";
// Where every sandbox is there that there are ids for. Root always has some.
constexpr const char* kTakeIdsStep = "take a block of user ids";
constexpr unsigned kMostSandboxesOfUser = 2047;

// Which way the launcher took where hosts differ, in every answer. Before it is set up: kFactRoot.
enum Fact : uint32_t {
  kFactCgroupV2 = 1 << 0,    // limits are set in cgroup v2; otherwise v1
  kFactCgroupKill = 1 << 1,  // processes are killed with cgroup.kill; otherwise freezer and SIGKILL
  kFactFullProc = 1 << 2,  // /proc is masked to an allow-list; otherwise subset=pid (no os.cpus())
  kFactMemorySwapOff = 1 << 3,  // swap is limited too, or the host has none to limit
  kFactDeviceCgroup = 1 << 4,   // the device cgroup allows the five nodes only
  kFactOwnIds = 1 << 5,  // each sandbox has host ids of its own; otherwise all share the caller's
  // Limits that a cgroup holds. Without: memory by a watchdog and the size of the tmpfs, processes
  // by RLIMIT_NPROC, which counts all of one user, processors by affinity.
  kFactMemoryLimit = 1 << 6,
  kFactPidsLimit = 1 << 7,
  kFactCpuLimit = 1 << 8,
  kFactRoot = 1 << 9,  // the launcher is the host's root; otherwise an ordinary user's
};

struct Reply {
  ReplyType type;
  uint32_t serial;
  uint64_t sandbox;
  uint64_t process;
  int32_t error;           // errno
  int32_t status;          // as from wait(2)
  uint32_t out_of_memory;  // the kernel's OOM killer struck in the sandbox while the process ran
  uint32_t facts;
  uint32_t landlock_abi;
  uint32_t own_id;  // seal: what belljar's id is called in the user namespace
  uint64_t cpu_micros;
  uint64_t max_rss;  // bytes
  char step[48];
  uint8_t trials[(kTrials + 7) / 8 * 8];  // by Trial: 0 if it works, otherwise the errno
};

}  // namespace belljar::launcher
