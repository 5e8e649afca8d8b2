#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/task.h"
#include "sandbox/capabilities.h"
#include "sandbox/command.h"
#include "sandbox/gate.h"
#include "sandbox/outcome.h"
#include "sandbox/spec.h"

namespace belljar {

// A program running in a sandbox.
class Process {
 public:
  // Destroying a process that still runs kills it, with everything it started, without waiting.
  virtual ~Process() = default;

  // Waits until the program has ended and its output has arrived. A child that outlives it and
  // holds its output open is given a short grace, no more. Cancelling the wait leaves the program
  // running.
  virtual Task<Outcome> wait() = 0;

  // Kills the program and everything it started and has not ended yet, and returns at once; wait()
  // then reports `why`. Never by a signal that a program can catch. Harmless after the end.
  virtual void kill(Outcome::Kind why) = 0;
};

enum class CLibrary { glibc, musl };

// node_modules of the host (handles, O_PATH): one, or two of which the second shows wherever the
// first has nothing. Both must have the same owner.
using PackageDirectories = std::shared_ptr<const std::vector<Fd>>;

// One sealed place with a file system, limits and processes of its own.
class Sandbox {
 public:
  // Destroying a sandbox that was not stopped by destroy() does the same without waiting.
  virtual ~Sandbox() = default;

  // Starts a program. `sink` must live until wait() has returned or the process is destroyed.
  // Several programs may run at once. An argv[0] that cannot be executed is Error{not_found}.
  virtual Task<std::unique_ptr<Process>> start(Command command, OutputSink& sink) = 0;

  // The sandbox's /workspace, for looking at files from outside: a handle (O_PATH) that is valid
  // until destroy(), or -1 if there is none. Everything beneath it is in the hands of hostile
  // programs: use it through files/directory.h only. A host directory at /workspace/files cannot
  // be reached through it.
  virtual int workspace() const = 0;

  // Has programs, also those that run already, find the packages of `directories` in
  // /workspace/node_modules, in place of those that were mounted there before. To programs they are
  // their own files, which they may change, remove and add to (or only add to node_modules itself,
  // where the host cannot do better); the directories stay as they are, and changes go when other
  // packages are mounted. They must not change while they are mounted, and be beneath belljar's
  // data directory: else Error{denied}. Error{invalid} if a program has made something of that name
  // that is no directory, Error{unavailable} while others are being mounted.
  virtual Task<> mount_packages(PackageDirectories directories) = 0;

  // What stands between its programs and the host.
  virtual const Isolation& isolation() const = 0;

  // That of its Node.js; native parts of packages must be for the same. The runtimes of this host
  // are for glibc.
  virtual CLibrary c_library() const { return CLibrary::glibc; }

  // A TCP connection to a port inside, as a stream socket that does not block. Error{unavailable}
  // if nothing accepts there.
  virtual Task<Fd> connect(uint16_t port) = 0;

  // A TCP socket that listens on 127.0.0.1 inside, at a port that the kernel chooses: what programs
  // in the sandbox connect to is answered by whoever holds it. Does not block.
  virtual Task<Fd> listen() = 0;

  // The gate of a sandbox with Network::gated, once; whoever has it decides what programs reach.
  // While nobody has it, and after it is closed, they reach nothing. An empty one if there is none:
  // then the only way out is a proxy that somebody serves at listen().
  virtual Gate take_gate() = 0;

  // Ends every process of the sandbox and frees all it has. Safe to call twice.
  virtual Task<> destroy() = 0;
};

// A place where sandboxes live: the local kernel, a Docker engine, a Kubernetes cluster.
class Driver {
 public:
  virtual ~Driver() = default;

  // What this host can truly enforce, tried out rather than read from a version.
  virtual Task<Capabilities> probe() = 0;

  virtual Task<std::unique_ptr<Sandbox>> create(SandboxSpec spec) = 0;

  // Removes what a crashed belljar left behind; what belongs to a living one is not touched.
  virtual Task<> recover() = 0;

  // Destroys every sandbox and ends the driver's own processes. Nothing may be called afterwards.
  virtual Task<> shut_down() = 0;
};

}  // namespace belljar
