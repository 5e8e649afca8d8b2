#include "tools/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/utf8.h"
#include "runtime/linter.h"

namespace belljar::tools {

namespace {

constexpr size_t kMostLines = 20;
constexpr size_t kLongestMessage = 200;
constexpr size_t kLongestRule = 60;
constexpr size_t kOutputLimit = 512u << 10;

// What is surely a mistake. The linter finds syntax errors without being told.
constexpr const char* kRules[] = {
    "no-undef",
    "no-const-assign",
    "no-import-assign",
    "no-class-assign",
    "no-dupe-keys",
    "no-obj-calls",
    "constructor-super",
    "no-this-before-super",
    "no-new-native-nonconstructor",
    "no-unsafe-optional-chaining",
    "no-invalid-regexp",
    "no-setter-return",
    "valid-typeof",
    "no-global-assign",
};

// The names that an ES module finds in Node.js 20 to 26. Not the linter's set "node", which has
// `require` and `__dirname`.
constexpr const char* kConfiguration = R"({
  "plugins": [],
  "env": {"builtin": true, "es2024": true, "shared-node-browser": true},
  "globals": {
    "AsyncDisposableStack": "readonly", "Buffer": "readonly", "DisposableStack": "readonly",
    "ErrorEvent": "readonly", "EventSource": "readonly", "Float16Array": "readonly",
    "Iterator": "readonly", "QuotaExceededError": "readonly", "Storage": "readonly",
    "SuppressedError": "readonly", "Temporal": "readonly", "clearImmediate": "readonly",
    "gc": "readonly", "global": "readonly", "localStorage": "readonly", "process": "readonly",
    "sessionStorage": "readonly", "setImmediate": "readonly"
  }
})";

struct Finding {
  int64_t line = 0;
  int64_t column = 0;
  std::string text;  // message and rule
  auto operator<=>(const Finding&) const = default;
};

Command lint_command(std::string path) {
  Command command;
  command.argv = {std::string{"/usr/local/"} + runtime::kLinter,
                  "--threads=1",
                  "--disable-nested-config",
                  "--no-ignore",
                  "--config=/dev/stdin",
                  "--format=json",
                  "--allow=all"};
  for (const char* rule : kRules) command.argv.push_back(std::string{"--deny="} + rule);
  command.argv.push_back(std::move(path));
  command.input = kConfiguration;
  return command;
}

std::string one_line(std::string_view text, size_t limit) {
  std::string line{text.substr(0, utf8_prefix(text, limit))};
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return line;
}

// "eslint(no-undef)" → "no-undef"; what has no rule is an error of syntax.
std::string rule_of(const json::object& diagnostic) {
  const json::string* code = find_string(diagnostic, "code");
  if (code == nullptr) return "syntax";
  std::string_view rule{*code};
  if (const size_t open = rule.find('('); open != std::string_view::npos && rule.ends_with(')'))
    rule = rule.substr(open + 1, rule.size() - open - 2);
  return one_line(rule, kLongestRule);
}

std::optional<Finding> read_finding(const json::value& value) {
  const json::object* diagnostic = value.if_object();
  const json::string* message =
      diagnostic != nullptr ? find_string(*diagnostic, "message") : nullptr;
  const json::value* labels = diagnostic != nullptr ? find(*diagnostic, "labels") : nullptr;
  if (message == nullptr || labels == nullptr || !labels->is_array()) return std::nullopt;
  if (labels->get_array().empty()) return std::nullopt;
  // With several the first is where something was declared, and the last is where it went wrong.
  const json::object* label = labels->get_array().back().if_object();
  const json::object* span = label != nullptr ? find_object(*label, "span") : nullptr;
  const json::value* line = span != nullptr ? find(*span, "line") : nullptr;
  const json::value* column = span != nullptr ? find(*span, "column") : nullptr;
  if (line == nullptr || column == nullptr || !line->is_int64() || !column->is_int64())
    return std::nullopt;
  std::string text = one_line(*message, kLongestMessage);
  if (text.ends_with('.')) text.pop_back();
  return Finding{line->get_int64(), column->get_int64(),
                 fmt::format("{} ({})", text, rule_of(*diagnostic))};
}

}  // namespace

std::vector<std::string> lint_lines(std::string_view report) {
  boost::system::error_code error;
  const json::value root = json::parse(report, error);
  const json::value* list =
      !error && root.is_object() ? find(root.get_object(), "diagnostics") : nullptr;
  if (list == nullptr || !list->is_array()) return {};
  std::vector<Finding> findings;
  for (const json::value& value : list->get_array())
    if (auto finding = read_finding(value)) findings.push_back(std::move(*finding));
  std::sort(findings.begin(), findings.end());
  findings.erase(std::unique(findings.begin(), findings.end()), findings.end());
  std::vector<std::string> lines;
  for (const Finding& finding : findings) {
    if (lines.size() == kMostLines) {
      lines.push_back(fmt::format("… and {} more", findings.size() - kMostLines));
      break;
    }
    lines.push_back(fmt::format("L{}:{}: {}", finding.line, finding.column, finding.text));
  }
  return lines;
}

Task<std::vector<std::string>> lint(Lease& lease, const Outcome& outcome, std::string path,
                                    milliseconds limit) {
  if (outcome.kind != Outcome::Kind::exited || outcome.code == 0)
    co_return std::vector<std::string>{};
  if (!runtime::has_linter(lease.spec().image.prefix)) co_return std::vector<std::string>{};
  RunLimits limits;
  limits.timeout = limit;
  limits.output_limit = kOutputLimit;
  RunResult result;
  try {
    Command command = lint_command(std::move(path));
    LiveOutput nobody;
    result = co_await lease.run(std::move(command), limits, std::move(nobody));
  } catch (const Error& error) {
    log::debug("the linter could not run: {}", error.what());
  }
  co_return lint_lines(result.out.text);
}

}  // namespace belljar::tools
