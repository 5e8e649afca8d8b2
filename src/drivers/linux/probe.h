#pragma once

#include <optional>
#include <string>

#include "drivers/linux/launcher/protocol.h"
#include "sandbox/driver.h"

namespace belljar::linux_driver {

// Runs a program in a new sandbox, with all the checks every program gets. An Error if that fails.
Task<> try_a_program(Sandbox& sandbox);

// Everything about this host: `found` has what the launcher reported and tried, `failure` is why a
// first sandbox could not be made or used, if that is so.
Capabilities describe_host(const launcher::Reply& found, const std::optional<std::string>& failure);

// The launcher's message, with what the operator can do about it if that is known. `facts` are
// those that the launcher sent.
std::string with_fix(const std::string& failure, uint32_t facts);

}  // namespace belljar::linux_driver
