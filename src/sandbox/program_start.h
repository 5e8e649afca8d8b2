#pragma once

#include "base/fd.h"
#include "sandbox/command.h"

// What every driver gives to a program.
namespace belljar {

// The whole environment of a program: the sandbox's own variables and, before them, the command's.
// Nothing of the host's is in it.
std::map<std::string, std::string> whole_environment(const Command& command);

// A program's stdin, stdout and stderr: the sides of the program, which must go once it has them,
// and those that are read. Files that the command names stay the command's.
struct ProgramStreams {
  explicit ProgramStreams(const Command& command);

  Fd own_input;
  Pipe output;
  Pipe errors;
  int in = -1;
  int out = -1;
  int err = -1;
};

}  // namespace belljar
