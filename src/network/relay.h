#pragma once

#include <cstdint>
#include <memory>

#include "base/fd.h"
#include "base/task.h"

namespace belljar::network {

// Carries bytes between two stream sockets, which must not block, until both sides have ended or
// one of them fails. The end of one direction is passed on and leaves the other open, so requests
// that end before their answer work; a failure of one side is a reset for the other. Bytes go by
// splice() and are never copied into this process; those of both directions are added to `count`
// as they pass.
Task<> relay(Fd one, Fd other, std::shared_ptr<uint64_t> count = nullptr);

// Small pieces leave without waiting for more.
void send_at_once(int socket);

// From now on the end of the socket is a reset, because what was cut off must not look complete; or
// the usual end.
void reset_at_close(int socket);
void close_gently(int socket);

}  // namespace belljar::network
