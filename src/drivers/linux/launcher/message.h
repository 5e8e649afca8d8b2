#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "drivers/linux/launcher/protocol.h"

namespace belljar::launcher {

// A request as it arrived, with what came along.
struct Message {
  Request request{};
  std::string payload;
  std::vector<Fd> fds;
};

// Reads one. False: belljar is gone. A packet that is not whole becomes a request of no known type.
bool receive(int socket, Message& message);

// True if a request has exactly the parts and numbers that its type may have. Whoever sends
// anything else is not the belljar we know.
bool is_well_formed(const Request& request, std::string_view payload, size_t fds);

// Cuts the payload into `count` strings; nothing if it is not exactly that.
std::vector<char*> split_strings(std::string& payload, size_t count);

}  // namespace belljar::launcher
