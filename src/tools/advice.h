#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network/policy.h"
#include "sandbox/spec.h"
#include "tools/program.h"
#include "tools/run_result.h"

namespace belljar::tools {

// A program that failed, and what must be known to say what to do about it.
struct FailedRun {
  const RunReport& report;
  std::string_view code;  // the program's text; "" for a shell command
  Program::Language language = Program::Language::javascript;
  std::vector<std::string> dependencies{};  // names of the npm packages that it has
  bool session = false;     // made by sandbox_initialize: files persist, limits stand
  bool published = false;   // with listenOnPort
  bool host_files = false;  // ./files is a directory of the host
  Limits max_limits{};      // the most that a call may ask for
  milliseconds max_timeout{0};
  Network network = Network::none;
  bool by_proxy = false;          // which is the only way out
  network::Policy max_network{};  // the most that a call may ask for
};

// What went wrong and what to do about it: one or two sentences, at most 400 characters on one
// line, well-formed UTF-8; "" if there is nothing to say that the reason does not. The catalogue is
// docs/errors.md, and its table of rules is in advice.cc. Everything that the program printed may
// be made up: a package is named only if that can be its name, and other words are shown briefly.
std::string advise(const FailedRun& run);

// failure_reason() and the advice behind it: the first line of an answer about a failed run.
std::string explain_failure(const FailedRun& run, std::string_view subject);

}  // namespace belljar::tools
