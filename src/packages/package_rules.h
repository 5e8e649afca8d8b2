#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace belljar::packages {

// What the operator decided about packages.
struct PackageRules {
  std::chrono::seconds max_age{86'400};    // after which ranges are resolved again
  bool offline = false;                    // no registry is asked
  std::chrono::seconds min_age{0};         // versions published later are not seen
  std::vector<std::string> denied;         // names that are never installed, whoever wants them
  std::vector<std::string> allow_scripts;  // names whose install scripts run
  uint64_t disk = 4ull << 30;              // what all that is kept may take
};

}  // namespace belljar::packages
