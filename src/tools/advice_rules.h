#pragma once

#include <string>

#include "tools/advice.h"
#include "tools/error_report.h"

// The rules of advice.cc. Each answers with its sentences if it is the one that applies, else "".
namespace belljar::tools::advice {

// What a rule looks at.
struct Clues {
  const FailedRun& run;
  ErrorReport error;

  const Outcome& outcome() const { return run.report.result.outcome; }
  std::string_view err() const { return run.report.result.err.text; }
  bool syntax_error() const { return error.name == "SyntaxError"; }
};

using Rule = std::string (*)(const Clues&);

// advice_modules.cc: imports, CommonJS and TypeScript.
std::string missing_package(const Clues& clues);
std::string missing_native_build(const Clues& clues);
std::string unknown_builtin(const Clues& clues);
std::string missing_module_file(const Clues& clues);
std::string commonjs_word(const Clues& clues);
std::string missing_export(const Clues& clues);
std::string unsupported_typescript(const Clues& clues);
std::string typescript_as_javascript(const Clues& clues);
std::string not_javascript(const Clues& clues);

// advice_limits.cc: limits, network, files and processes.
std::string out_of_memory(const Clues& clues);
std::string heap_exhausted(const Clues& clues);
std::string timed_out(const Clues& clues);
std::string disk_full(const Clues& clues);
std::string too_many_processes(const Clues& clues);
std::string nothing_listens(const Clues& clues);
std::string too_many_connections(const Clues& clues);
std::string network_refused(const Clues& clues);
std::string network_blocked(const Clues& clues);
std::string port_refused(const Clues& clues);
std::string not_writable(const Clues& clues);
std::string no_such_command(const Clues& clues);
std::string no_such_file(const Clues& clues);

}  // namespace belljar::tools::advice
