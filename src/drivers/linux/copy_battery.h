#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sandbox/run.h"

namespace belljar::linux_driver {

// A program that must do the same whether it is executed or a copy: one file of copy_programs/.
struct CopyProgram {
  std::string_view file;  // "workers.mjs"
  std::string_view text;
};

// What the copies of a Node.js are tried with. All get the same input.
std::span<const CopyProgram> copy_programs();

// The one whose every line must be another in each copy.
constexpr std::string_view kRandomProgram = "random.mjs";

// The command that runs it.
Command command_of(const CopyProgram& program);

struct CopyDifference {
  std::string program;  // "workers"
  std::string reason;
};

// Runs a program in a sandbox of its own. An Error says that this could not be done.
using RunCopyProgram = std::function<Task<RunResult>(const CopyProgram&, StartWay)>;

// Runs each program executed and as a copy: the first difference, if there is one. Error if that
// cannot be told: a program could not be run, or not even the executed one came to its end.
Task<std::optional<CopyDifference>> compare_copies(std::span<const CopyProgram> programs,
                                                   RunCopyProgram run);

}  // namespace belljar::linux_driver
