#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "sandbox/lease.h"
#include "tools/arguments.h"

namespace belljar::tools {

// The variable in which a program finds the port that it is to listen on, as servers expect it.
constexpr const char* kPortVariable = "PORT";

// `port` and `listenOnPort`: a port of the sandbox to publish, or 0 for one that belljar chooses.
Parameter port_parameter(std::string name, std::string purpose);

// What a client sent for it; nothing if it did not. Error{invalid} for a privileged port.
std::optional<uint16_t> read_port(const Arguments& arguments, const std::string& name);

// Publishes a port of the sandbox under the same number on that address of the host, for as long as
// the sandbox lives; for port 0 a number that is free on the host. Returns the number. Does nothing
// if it is published already. Error if the host's port is taken or the sandbox has too many.
uint16_t publish_port(const Lease& lease, uint16_t port, const asio::ip::address& address,
                      const asio::any_io_executor& executor);

}  // namespace belljar::tools
