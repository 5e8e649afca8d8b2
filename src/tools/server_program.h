#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/background.h"
#include "sandbox/lease.h"
#include "tools/parameter.h"

namespace belljar::tools {

// `port` and `listenOnPort`.
Parameter port_parameter(std::string name, std::string purpose);

// Publishes a port of the sandbox under the same number on the host's 127.0.0.1, for as long as the
// sandbox lives. Does nothing if it is published already; Error if the host's port is taken.
void publish_port(const Lease& lease, uint16_t port, const asio::any_io_executor& executor);

struct ServerStart {
  std::shared_ptr<BackgroundProcess> process;
  std::string failure;  // why it does not serve, in words; "" if it does
  std::chrono::microseconds ready_after{0};
};

// Starts a program in the background and waits until its port accepts connections. A program that
// ends before that, or takes longer than `timeout` and is then killed, is a failure.
// Error{unavailable} if something in the sandbox listens there already. Cancelling kills it.
Task<ServerStart> start_server(Lease lease, Command command, uint16_t port, milliseconds timeout);

// The TCP ports that something listens on, by the text of /proc/net/tcp and /proc/net/tcp6.
std::vector<uint16_t> listening_ports(std::string_view table);

}  // namespace belljar::tools
