#pragma once

#include <span>
#include <string_view>

#include "base/fd.h"
#include "drivers/linux/launcher/protocol.h"

// Packets between belljar and the launcher, as belljar sends and receives them. The launcher's own
// side is launcher/message.h: it trusts nobody, and shares no code with us.
namespace belljar::linux_driver {

enum class Sent {
  yes,
  full,   // not now, and the socket does not block
  ended,  // the launcher has, or errno says otherwise
};

// Sends one request. A lack of memory for the packet is waited out.
Sent send_request(int socket, const launcher::Request& request, std::string_view payload,
                  std::span<const int> fds) noexcept;

enum class Received {
  reply,
  nothing,  // none is there yet, or there is no memory to take it: try again when one is
  ended,    // the launcher has, or what came is no reply
};

// Receives one reply. The descriptors that come along go to `fds` in their order; those for which
// there is no place are closed.
Received receive_reply(int socket, launcher::Reply& reply, std::span<Fd> fds) noexcept;

}  // namespace belljar::linux_driver
