#pragma once

#include <vector>

#include "base/fd.h"
#include "drivers/linux/launcher/fork_request.h"
#include "drivers/linux/launcher/posture.h"
#include "drivers/linux/launcher/seccomp.h"

namespace belljar::zygote {

// A descriptor that the zygote had open before it made a copy of itself.
struct OwnFd {
  int number;
  uint64_t inode;
};
std::vector<OwnFd> list_own_fds();

// Everything a copy needs to enter its sandbox.
struct EnterContext {
  const launcher::ForkRequest& request;
  const launcher::SeccompFilters& filters;
  const std::vector<OwnFd>& own_fds;
  std::vector<int> fds;  // those that came with the request; closed on the way, but for two
  int status;
  int job;
  int placeholder = -1;  // stands in the place of each of own_fds
  launcher::Outside outside{};
};

// Runs in the copy, born in the sandbox's pid namespace and v2 cgroup: enters the rest of the
// sandbox, gives up every right and checks that. The step that fails is reported on `status`, and
// the process ends.
void enter_sandbox(EnterContext& context);

// After libuv has made descriptors of its own: closes what still holds a place only.
void close_placeholders(const EnterContext& context);

}  // namespace belljar::zygote
