#pragma once

#include "base/fd.h"
#include "base/task.h"

namespace belljar::network {

// Carries bytes between two stream sockets, which must not block, until both sides have ended or
// one of them fails. The end of one direction is passed on and leaves the other open, so requests
// that end before their answer work. Bytes go by splice() and are never copied into this process.
Task<> relay(Fd one, Fd other);

}  // namespace belljar::network
