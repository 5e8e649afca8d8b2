#pragma once

#include <vector>

#include "drivers/docker/engine_answers.h"
#include "sandbox/capabilities.h"

namespace belljar::docker {

// What an engine can enforce, as far as it says so itself: what the driver reports before it makes
// a container, and refuses to work without.
std::vector<Feature> check_engine(const EngineVersion& version, const EngineInfo& info);

}  // namespace belljar::docker
