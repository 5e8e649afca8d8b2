#pragma once

#include <string>
#include <vector>

#include "sandbox/spec.h"
#include "tools/arguments.h"
#include "tools/settings.h"

namespace belljar::tools {

// The arguments that say what kind of sandbox it shall be: `image`, `limits`.
Parameter image_parameter(const Settings& settings);
Parameter limits_parameter(const Settings& settings);

// The name of the image, whose form is checked; whether there is such an image is not known here.
std::string read_image_name(const Arguments& arguments);

// Refuses every policy but `none`.

// The operator's defaults with what the caller changed.
Limits read_limits(const Arguments& arguments, const Settings& settings);

// For a call in a sandbox that exists: limits cannot change any more, so `limits` may only repeat
// them.
void check_limits_unchanged(const Arguments& arguments, const Limits& limits);

// The operator's maximum, or the default if that is higher.
Limits highest_limits(const Settings& settings);

}  // namespace belljar::tools
