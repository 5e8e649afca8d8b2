#pragma once

#include <optional>
#include <string>

namespace belljar::runtime {

// Why the file cannot be a program for this machine, or nothing if it can. Looks at mode and ELF
// header only: nothing that was downloaded is ever run on the host.
std::optional<std::string> why_not_a_program(const std::string& path);

}  // namespace belljar::runtime
