#pragma once

#include <map>
#include <string>

namespace belljar::tools {

// Error{invalid} unless every name has the form of a variable's name and is free for a program to
// set. Not free are those that decide which files are loaded or found, because belljar sets them
// itself.
void check_environment(const std::map<std::string, std::string>& env);

}  // namespace belljar::tools
