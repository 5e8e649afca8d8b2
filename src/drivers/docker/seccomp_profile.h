#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/seccomp_policy.h"

namespace belljar::docker {

// Uses of one call: those where each listed argument is as its test wants it. At most one test per
// argument: engines read two of the same as "one or the other".
using CallForm = std::vector<syscalls::ArgumentTest>;

// The uses of a call that none of `denied` (rules for that call) matches, of those that are as
// `within` wants them. They do not overlap.
std::vector<CallForm> remaining_forms(const std::vector<syscalls::ArgumentRule>& denied,
                                      const CallForm& within = {});

// What arguments of a call are like that mean anything to a kernel.
CallForm meaningful(std::string_view call);

// sandbox/seccomp_policy.h as the JSON that Docker and Podman take. They build one filter of it, in
// which "allowed, except" cannot be said, so that it names what remains. Calls that are not on the
// list answer ENOSYS, refused uses of one that is EPERM.
std::string seccomp_profile();

}  // namespace belljar::docker
