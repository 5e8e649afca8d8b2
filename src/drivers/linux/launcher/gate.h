#pragma once

#include "base/fd.h"

// The network of a sandbox whose programs may reach something outside: see sandbox/gate.h. All of
// it is in the sandbox's own network namespace; nothing of the host's network is changed, and there
// is no interface that leads out of it.
namespace belljar::launcher {

// The rest is for a process in that namespace that rules over it. All return 0 or an errno.
int bring_loopback_up();

// With that up: makes every address local, and has first packets dropped unless they came through
// the gate.
int lead_to_gate();

// The two sockets of a Gate.
int open_gate_packets(Fd& result);
int open_gate_connections(Fd& result);

}  // namespace belljar::launcher
