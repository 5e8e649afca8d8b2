#pragma once

#include <string>
#include <string_view>

namespace belljar::tools {

// The error that ended a program, as far as its stderr tells. All of it is the program's word:
// good enough to help, not to be trusted.
struct ErrorReport {
  bool fatal = false;   // Node.js itself reported it: nobody caught the error
  std::string name;     // "TypeError"; "" if what was thrown is no Error, or nothing was found
  std::string code;     // "ERR_MODULE_NOT_FOUND", "ENOENT"; "" if it has none
  std::string message;  // its first line
  std::string text;     // the whole report, bounded
  size_t line = 0;      // of the program's own file; 0 if it is not known

  bool has(std::string_view needle) const { return text.find(needle) != std::string::npos; }

  // What stands between two texts, the first time: of "Cannot find package '", "'". "" if not
  // there.
  std::string between(std::string_view before, std::string_view after) const;
};

ErrorReport read_error_report(std::string_view err);

// The number after the first "/workspace/index.js:" or the like, or 0.
size_t program_line(std::string_view text);

// Untrusted text made fit for a sentence: one line, no control characters, at most `limit` bytes.
std::string shown(std::string_view text, size_t limit = 100);

}  // namespace belljar::tools
