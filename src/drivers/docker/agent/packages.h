#pragma once

#include <cstdint>
#include <string>

namespace belljar::agent {

// Makes node_modules in `workspace` a symbolic link to the packages of this number in the host
// directory, in one moment, in place of such a link or an empty directory. 0 or an errno; EEXIST
// if something else is there.
int link_packages(int workspace, const std::string& host_directory, uint32_t number);

}  // namespace belljar::agent
