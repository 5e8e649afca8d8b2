#pragma once

#include <optional>
#include <string>

#include "drivers/linux/launcher/protocol.h"
#include "sandbox/driver.h"

namespace belljar::linux_driver {

// Makes a sandbox and runs a program in it, with all the checks every program gets. An Error if
// that fails.
Task<> try_a_sandbox(Driver& driver);

// What was learned, feature by feature. `failure` is why try_a_sandbox (or the set-up before it)
// failed, if it did.
Capabilities describe_host(const launcher::Reply& facts, const std::optional<std::string>& failure);

}  // namespace belljar::linux_driver
