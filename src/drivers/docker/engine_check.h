#pragma once

#include <string>
#include <vector>

#include "drivers/docker/engine_answers.h"
#include "sandbox/capabilities.h"

namespace belljar::docker {

// Whether containers that the runtime of that name runs have a kernel of their own.
bool has_own_kernel(const EngineInfo& info, const std::string& runtime);

// What an engine can enforce, as far as it says so itself: what the driver reports before it makes
// a container, and refuses to work without. `own_kernel` as above.
std::vector<Feature> check_engine(const EngineVersion& version, const EngineInfo& info,
                                  bool own_kernel = false);

// Every name and group that --require knows.
std::vector<std::string> feature_names();

// Throws Error{unavailable} unless containers can be run by the OCI runtime of that name ("": the
// engine's own choice). Podman's API takes the name and ignores it, so that only its default is had
// there. Whether a runtime that the engine names is truly installed shows when a container starts.
void check_runtime(const EngineVersion& version, const EngineInfo& info, const std::string& name);

}  // namespace belljar::docker
