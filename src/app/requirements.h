#pragma once

#include <string>
#include <vector>

#include "sandbox/driver.h"

namespace belljar::app {

// What of the required features and of those with these names (`--require`) this host does not
// enforce, in words with the fixes; "" if there is nothing.
std::string unmet_requirements(const Capabilities& capabilities,
                               const std::vector<std::string>& names);

// Tries what the host can enforce, if anything is required, and is an Error{unavailable} with the
// reasons and fixes if that is not met. To be awaited before the first sandbox is used.
Task<> require_features(Driver& driver, std::vector<std::string> names);

}  // namespace belljar::app
