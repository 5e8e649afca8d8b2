#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/background.h"
#include "sandbox/lease.h"

namespace belljar::tools {

// The port on which a program is to listen, published from reserve() until the sandbox ends. One
// that belljar chose is free for the next program when this is destroyed.
class ServerPort {
 public:
  // `wanted` 0: one that is free on the host and in the sandbox. Errors as publish_port().
  static Task<std::shared_ptr<const ServerPort>> reserve(const Lease& lease, uint16_t wanted,
                                                         asio::ip::address address);

  ~ServerPort();
  ServerPort(const ServerPort&) = delete;
  ServerPort& operator=(const ServerPort&) = delete;

  uint16_t number() const { return number_; }

 private:
  using Numbers = std::shared_ptr<std::set<uint16_t>>;

  ServerPort(uint16_t number, Numbers spare) : number_{number}, spare_{std::move(spare)} {}

  uint16_t number_;
  Numbers spare_;  // where it goes back to; null: the client chose it
};

struct ServerStart {
  std::shared_ptr<BackgroundProcess> process;
  std::string failure;  // why it does not serve, in words; "" if it does
  std::chrono::microseconds ready_after{0};
};

// Starts a program in the background and waits until its port accepts connections. A program that
// ends before that, or takes longer than `timeout` and is then killed, is a failure.
// Error{unavailable} if something in the sandbox listens there already. Cancelling kills it.
Task<ServerStart> start_server(Lease lease, Command command, std::shared_ptr<const ServerPort> port,
                               milliseconds timeout);

// The TCP ports that something listens on, by the text of /proc/net/tcp and /proc/net/tcp6.
std::vector<uint16_t> listening_ports(std::string_view table);

}  // namespace belljar::tools
