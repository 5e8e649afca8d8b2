#pragma once

#include <memory>
#include <vector>

#include "sandbox/traffic.h"

namespace belljar::network {

// Where the traffic of one sandbox is counted: one entry for each place and verdict.
class TrafficLog {
 public:
  // The entry to count in, with one attempt more. When there are too many, all that follow are
  // counted under the host "*".
  std::shared_ptr<Traffic> attempt(const std::string& host, uint16_t port,
                                   Traffic::Verdict verdict);

  std::vector<Traffic> all() const;

 private:
  std::vector<std::shared_ptr<Traffic>> entries_;
};

}  // namespace belljar::network
