#include "tools/advice.h"

#include <fmt/format.h>

#include <csignal>

#include "base/utf8.h"
#include "tools/advice_rules.h"

namespace belljar::tools {

namespace advice {
namespace {

using Kind = Outcome::Kind;

constexpr size_t kLongest = 400;  // characters, of which a few may have several bytes

// Errors of Node.js for which one sentence fits all: by code, or by what the report says.
struct Saying {
  const char* code;    // "" if any
  const char* needle;  // "" if any
  const char* sentence;
};

constexpr Saying kSayings[] = {
    {"ERR_UNSUPPORTED_DIR_IMPORT", "",
     "A directory cannot be imported: name the file in it, as in \"./lib/index.js\"."},
    {"ERR_IMPORT_ATTRIBUTE_MISSING", "",
     "JSON is imported with an attribute: import data from \"./data.json\" with { type: \"json\" "
     "};"},
    {"ERR_IMPORT_ASSERTION_TYPE_MISSING", "",
     "JSON is imported with an attribute: import data from \"./data.json\" with { type: \"json\" "
     "};"},
    {"ERR_UNSUPPORTED_ESM_URL_SCHEME", "",
     "Node.js does not import from addresses such as https: or npm:. Add the package to "
     "\"dependencies\" and import it by its name."},
    {"ERR_PACKAGE_PATH_NOT_EXPORTED", "",
     "The package is installed but does not offer that path: import from the package's name "
     "itself, or from a path that its documentation gives."},
    {"ERR_PACKAGE_IMPORT_NOT_DEFINED", "",
     "Imports that begin with \"#\" need an entry in package.json: write a relative path instead."},
    {"ERR_REQUIRE_ESM", "", "That package is an ES module: use import instead of require()."},
    {"ERR_REQUIRE_ASYNC_MODULE", "",
     "That module uses top-level await: use await import() instead of require()."},
    {"", "Cannot use import statement outside a module",
     "The file with the import statement is taken as CommonJS: give it a name that ends in .mjs, "
     "or "
     ".js beneath /workspace, not .cjs."},
    {"EMFILE", "",
     "Too many files or sockets are open at once: close them after use, and handle many in groups "
     "of a few dozen."},
    {"", "Maximum call stack size exceeded",
     "A function calls itself without end or too deeply: check the condition that ends the "
     "recursion, or use a loop."},
    {"ERR_UNHANDLED_REJECTION", "",
     "A promise was rejected with a value that is not an Error and nobody caught it: await it in "
     "try/catch, and reject with new Error(\"…\") to get a stack trace."},
};

std::string known_error(const Clues& clues) {
  for (const Saying& saying : kSayings) {
    if (*saying.code != '\0' && clues.error.code != saying.code) continue;
    if (*saying.needle != '\0' && !clues.error.has(saying.needle)) continue;
    return saying.sentence;
  }
  return "";
}

std::string unsettled_await(const Clues& clues) {
  if (clues.outcome().kind != Kind::exited || clues.outcome().code != 13) return "";
  const std::string_view err = clues.err();
  const size_t warning = err.rfind("Detected unsettled top-level await");
  const size_t line = warning == std::string_view::npos ? 0 : program_line(err.substr(warning));
  return fmt::format(
      "A promise that the program awaits at its top level{} never settled, and nothing was left "
      "that could settle it: check that resolve or reject is called on every path.",
      line == 0 ? "" : fmt::format(" (line {})", line));
}

std::string killed_by_signal(const Clues& clues) {
  if (clues.outcome().kind != Kind::signaled) return "";
  switch (clues.outcome().code) {
    case SIGSYS: return "It made a system call that the sandbox does not allow.";
    case SIGKILL:
    case SIGTERM:
    case SIGINT:
    case SIGHUP: return "Something inside the sandbox sent it that signal: look for kill().";
    case SIGXCPU: return "It used more processor time than it may.";
    default: break;
  }
  return "That is a crash of native code, or process.abort(): look for native addons, WebAssembly "
         "and process.kill() in the program.";
}

std::string browser_name(const Clues& clues) {
  if (clues.error.name != "ReferenceError") return "";
  for (const char* name : {"window", "document", "alert", "localStorage", "XMLHttpRequest"}) {
    if (clues.error.message != fmt::format("{} is not defined", name)) continue;
    return fmt::format(
        "\"{}\" exists in browsers only, and this is Node.js. For a DOM add {{\"name\": \"jsdom\", "
        "\"version\": \"latest\"}} to \"dependencies\".",
        name);
  }
  return "";
}

std::string thrown_value(const Clues& clues) {
  if (!clues.error.fatal || !clues.error.name.empty()) return "";
  return "The program threw a value that is not an Error: throw new Error(\"…\") to get a message "
         "and a stack trace.";
}

// Any other error that Node.js reported: in its own words.
std::string uncaught_error(const Clues& clues) {
  if (!clues.error.fatal) return "";
  const bool of_program = clues.syntax_error() && !clues.error.has("JSON.parse");
  const std::string place =
      clues.error.line == 0 ? "" : fmt::format(" in line {}", clues.error.line);
  return fmt::format("{}{}: {}",
                     of_program ? "Syntax error" : "Uncaught " + shown(clues.error.name, 40), place,
                     shown(clues.error.message));
}

std::string ended_itself(const Clues& clues) {
  if (clues.run.code.empty() || clues.outcome().kind != Kind::exited) return "";
  return "It set this exit code itself, by process.exit() or process.exitCode: what it printed "
         "says "
         "why.";
}

// The catalogue: the first rule that has something to say is the advice. Those that know how the
// program ended come first, then those that know the error, the more special ones first.
constexpr Rule kRules[] = {
    out_of_memory,
    heap_exhausted,
    timed_out,
    unsettled_await,
    killed_by_signal,
    missing_native_build,
    unknown_builtin,
    missing_package,
    missing_module_file,
    commonjs_word,
    missing_export,
    unsupported_typescript,
    typescript_as_javascript,
    not_javascript,
    disk_full,
    too_many_processes,
    known_error,
    nothing_listens,
    too_many_connections,
    network_refused,
    network_blocked,
    port_refused,
    no_such_command,
    not_writable,
    no_such_file,
    browser_name,
    thrown_value,
    uncaught_error,
    ended_itself,
};

}  // namespace
}  // namespace advice

std::string advise(const FailedRun& run) {
  const Outcome& outcome = run.report.result.outcome;
  if (outcome.ok() || outcome.kind == Outcome::Kind::cancelled) return "";
  const advice::Clues clues{run, read_error_report(run.report.result.err.text)};
  for (const advice::Rule rule : advice::kRules) {
    if (const std::string sentences = rule(clues); !sentences.empty())
      return shown(to_utf8(sentences), advice::kLongest - 1);
  }
  return "";
}

std::string explain_failure(const FailedRun& run, std::string_view subject) {
  const std::string reason = failure_reason(run.report, subject);
  const std::string sentences = advise(run);
  return sentences.empty() ? reason : reason + ". " + sentences;
}

}  // namespace belljar::tools
