#pragma once

#include <map>
#include <string>
#include <string_view>

namespace belljar::tools {

// Error{invalid} unless every name has the form of a variable's name and is free for a program to
// set. Not free are those that decide which files are loaded or found, because belljar sets them
// itself.
void check_environment(const std::map<std::string, std::string>& env);

// Why no program can have a variable of that name from outside, as the end of a sentence; "" if one
// can.
std::string_view why_not_a_variable(std::string_view name);

}  // namespace belljar::tools
