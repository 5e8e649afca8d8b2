#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tools/advice.h"

// For the unit tests of the catalogue only. The texts in them are what Node.js 20.20, 22.23, 24.21
// and 26.10 print in a sandbox, with shorter stacks; the comment says which of them.
namespace belljar::tools {

using Kind = Outcome::Kind;

// A program that failed in a sandbox of its own with the usual limits.
class Failure {
 public:
  explicit Failure(std::string code) : code_{std::move(code)} {
    report.result.outcome.code = 1;
    report.timeout = milliseconds{1500};
    run.max_limits = Limits{.memory = 4ull << 30, .cpus = 4, .pids = 1024, .disk = 4ull << 30};
    run.max_timeout = milliseconds{600'000};
  }
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;

  void kind(Kind kind, int code = 0) {
    report.result.outcome.kind = kind;
    report.result.outcome.code = code;
  }
  void typescript() { run.language = Program::Language::typescript; }
  void printed(std::string text) { report.result.out.text = std::move(text); }

  // With this on stderr.
  std::string advice(std::string err) {
    report.result.err.text = std::move(err);
    run.code = code_;
    return advise(run);
  }

  // With an error that nobody caught, as every version of Node.js frames it. The program has
  // printed something before.
  std::string uncaught(const std::string& error) {
    const bool has_place = error.starts_with("file:") || error.starts_with("/");
    std::string result;
    for (const char* version : {"20.20.2", "22.23.3", "24.21.0", "26.10.0"}) {
      const std::string one = advice(fmt::format(
          "Error: noise\n    at it\n{}{}\n\nNode.js v{}\n",
          has_place ? "" : "node:internal/modules/run_main:123\n    triggerUncaught(\n    ^\n\n",
          error, version));
      EXPECT_TRUE(result.empty() || result == one) << version << ": " << one;
      result = one;
    }
    return result;
  }

  RunReport report;
  FailedRun run{report, ""};

 private:
  std::string code_;
};

}  // namespace belljar::tools
