#pragma once

#include <map>
#include <string>
#include <vector>

#include "sandbox/command.h"
#include "sandbox/spec.h"
#include "tools/arguments.h"
#include "tools/settings.h"

namespace belljar::tools {

// A program as a client sends it.
struct Program {
  enum class Language { javascript, typescript };

  std::string code;
  Language language = Language::javascript;
  std::vector<std::string> args;
  std::map<std::string, std::string> env;
  std::string input;
  milliseconds timeout{0};
};

Parameter code_parameter(const Settings& settings);
Parameter timeout_parameter(const Settings& settings);
Parameter container_parameter();

// `language`, `timeoutMs`, `env`, `args` and `stdin`.
std::vector<Parameter> program_parameters(const Settings& settings);

// Error{invalid} for environment variables that are not the program's to set, and for too much of
// them.
Program read_program(const Arguments& arguments, const Settings& settings);

// Error{unavailable} if the image cannot run the program's language.
void check_language(const Program& program, const Image& image);

// What to start for the program. `slot` tells files of programs that run at the same time apart: 1
// is /workspace/index.js, 2 is index-2.js. Error{unavailable} if the image cannot run the language.
Command make_command(Program program, const Image& image, int slot);

// What a model must know about the place where its program runs.
std::string surroundings(const Settings& settings);

}  // namespace belljar::tools
