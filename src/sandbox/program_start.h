#pragma once

#include "base/fd.h"
#include "sandbox/command.h"

// What every driver gives to a program.
namespace belljar {

// The whole environment of a program: the sandbox's own variables and, before them, the command's.
// Nothing of the host's is in it.
std::map<std::string, std::string> whole_environment(const Command& command);

// What the program reads on stdin, if that is no file of the caller's.
Fd input_of(const Command& command);

}  // namespace belljar
