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

// What a sandbox of that image has if nobody asks for anything else. Nothing else decides that.
// `image` is the name as it was asked for.
Limits usual_limits(const Settings& settings, const std::string& image);

// How far a caller may raise them: the operator's maximum, or what is usual if that is higher.
Limits highest_limits(const Settings& settings, const std::string& image);

// What is usual for the image, with what the caller changed.
Limits read_limits(const Arguments& arguments, const Settings& settings);

// For a call in a sandbox that exists: limits cannot change any more, so `limits` may only repeat
// them.
void check_limits_unchanged(const Arguments& arguments, const Limits& limits);

}  // namespace belljar::tools
