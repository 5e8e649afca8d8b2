#pragma once

namespace belljar::agent {

// Takes from this process and all that it will start what programs have no use for, and what a
// kernel offers to whoever wants to be its root: calls that make namespaces, mounts and other
// kernels' helpers. For containers with a kernel of their own, which may know no filter of an
// engine's. Not as long as sandbox/seccomp_policy.h: what is behind it is not the host's. 0 or an
// errno.
int refuse_calls();

}  // namespace belljar::agent
