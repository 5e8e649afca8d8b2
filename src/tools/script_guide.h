#pragma once

#include <string>

#include "tools/settings.h"

namespace belljar::tools {

// How to write a good program for these sandboxes, for a model: what it finds there, what to avoid,
// and the limits that the operator set. Markdown.
std::string script_guide(const Settings& settings);

}  // namespace belljar::tools
