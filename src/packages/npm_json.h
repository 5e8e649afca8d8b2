#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace belljar::packages {

// A JSON text as npm writes its lockfiles: indented by two, in every object first what is no object
// itself, then by npm's favourite keys, then as localeCompare() of English sorts. Ends with a
// newline. Exact for keys in ASCII, which names of packages are.
std::string npm_json(const json::value& value);

// localeCompare() of English, which npm sorts by.
bool npm_less(std::string_view a, std::string_view b);

}  // namespace belljar::packages
