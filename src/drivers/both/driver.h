#pragma once

#include <memory>
#include <string>

#include "sandbox/driver.h"

namespace belljar {

inline const std::string kEnginePrefix = "engine-";

// Two drivers as one: images of a container engine are the one's, a Node.js of this host is the
// other's. Each sandbox says itself what its boundary is.
class BothDrivers final : public Driver {
 public:
  BothDrivers(std::unique_ptr<Driver> host, std::unique_ptr<Driver> engine);

  // The names and groups of the engine's features begin with kEnginePrefix. An engine that does not
  // answer is a feature that is missing.
  Task<Capabilities> probe() override;

  Task<std::unique_ptr<Sandbox>> create(SandboxSpec spec) override;
  Task<> recover() override;
  Task<> shut_down() override;

 private:
  std::unique_ptr<Driver> host_;
  std::unique_ptr<Driver> engine_;
};

}  // namespace belljar
