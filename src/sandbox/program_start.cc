#include "sandbox/program_start.h"

#include <fcntl.h>

#include "base/error.h"
#include "base/posix.h"

namespace belljar {

std::map<std::string, std::string> whole_environment(const Command& command) {
  static const std::map<std::string, std::string> own{
      {"HOME", "/home/node"},
      {"LANG", "C.UTF-8"},
      {"LOGNAME", "node"},
      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
      {"PWD", "/workspace"},
      {"SHELL", "/bin/sh"},
      {"TMPDIR", "/tmp"},
      {"USER", "node"},
  };
  auto variables = command.env;
  variables.insert(own.begin(), own.end());
  return variables;
}

namespace {

Fd input_of(const Command& command) {
  if (command.input_file) return Fd{};
  if (!command.input.empty()) return make_memory_file("stdin", command.input);
  return Fd{sys(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open /dev/null")};
}

}  // namespace

ProgramStreams::ProgramStreams(const Command& command)
    : own_input{input_of(command)}, output{make_pipe()}, errors{make_pipe()} {
  if (command.output_file) output.write.reset();  // the reader then sees its end at once
  in = command.input_file ? command.input_file->get() : own_input.get();
  out = command.output_file ? command.output_file->get() : output.write.get();
  err = errors.write.get();
}

}  // namespace belljar
