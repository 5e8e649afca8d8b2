#include "tools/program_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <regex>

#include "packages/package_document.h"

namespace belljar::tools {

namespace {

// Regular expressions recurse with the length of their subject, and slowly, so they see short lines
// only, and not more of them than a program has at its head.
constexpr size_t kLongestLine = 300;
constexpr size_t kMostLines = 500;

constexpr std::string_view kBuiltins[] = {
    "assert",
    "assert/strict",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "dns/promises",
    "domain",
    "events",
    "fs",
    "fs/promises",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "path/posix",
    "path/win32",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "readline/promises",
    "repl",
    "sea",
    "sqlite",
    "stream",
    "stream/consumers",
    "stream/promises",
    "stream/web",
    "string_decoder",
    "test",
    "test/reporters",
    "timers",
    "timers/promises",
    "tls",
    "tty",
    "url",
    "util",
    "util/types",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
};

// These exist under "node:" only; without it the name is a package's.
constexpr std::string_view kOnlyWithPrefix[] = {"sea", "sqlite", "test", "test/reporters"};

// Calls `take` for each line that has one of two words, until it returns false.
void for_lines_with(std::string_view code, std::string_view word, std::string_view other,
                    const std::function<bool(const std::string&)>& take) {
  size_t number = 0;
  while (!code.empty() && ++number <= kMostLines) {
    const size_t end = std::min(code.find('\n'), code.size());
    const std::string_view line = code.substr(0, std::min(end, kLongestLine));
    code.remove_prefix(std::min(end + 1, code.size()));
    if (line.find(word) == std::string_view::npos && line.find(other) == std::string_view::npos)
      continue;
    if (!take(std::string{line})) return;
  }
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string_view without_spaces_behind(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

// What a line imports: the strings behind `from`, `import` and `require(`.
std::vector<std::string> specifiers(std::string_view line) {
  std::vector<std::string> found;
  size_t open = line.find_first_of("'\"");
  while (open != std::string_view::npos) {
    const size_t close = line.find(line[open], open + 1);
    if (close == std::string_view::npos) break;
    std::string_view before = without_spaces_behind(line.substr(0, open));
    if (before.ends_with('(')) before = without_spaces_behind(before.substr(0, before.size() - 1));
    if (before.ends_with("from") || before.ends_with("import") || before.ends_with("require"))
      found.emplace_back(line.substr(open + 1, close - open - 1));
    open = line.find_first_of("'\"", close + 1);
  }
  return found;
}

// "a, b: c" as require() is taken apart → "a, b as c" as import wants it.
std::string import_names(const std::string& names) {
  return std::regex_replace(names, std::regex{R"(\s*:\s*)"}, " as ");
}

}  // namespace

std::string_view line_of(std::string_view code, size_t number) {
  for (; number > 1; --number) {
    const size_t end = code.find('\n');
    if (end == std::string_view::npos) return "";
    code.remove_prefix(end + 1);
  }
  return number == 0 ? "" : code.substr(0, std::min(code.find('\n'), kLongestLine));
}

std::string package_of(std::string_view specifier) {
  size_t end = specifier.find('/');
  if (specifier.starts_with('@') && end != std::string_view::npos)
    end = specifier.find('/', end + 1);
  const std::string_view name = specifier.substr(0, end);
  // A name that looks like an option is not worth the risk, though npm has some.
  return packages::is_package_name(name) && !name.starts_with('-') ? std::string{name} : "";
}

bool is_builtin(std::string_view specifier) {
  const bool prefixed = specifier.starts_with("node:");
  if (prefixed) specifier.remove_prefix(5);
  const auto is_it = [specifier](std::string_view name) { return name == specifier; };
  if (!prefixed && std::any_of(std::begin(kOnlyWithPrefix), std::end(kOnlyWithPrefix), is_it))
    return false;
  return std::any_of(std::begin(kBuiltins), std::end(kBuiltins), is_it);
}

std::string nearest_builtin(std::string_view name) {
  if (name.starts_with("node:")) name.remove_prefix(5);
  if (name.size() > 40) return "";
  std::string_view best;
  size_t least = name.size() < 4 ? 2 : 3;  // anything as far away as this is another word
  for (const std::string_view candidate : kBuiltins) {
    const size_t far = distance(name, candidate);
    if (far >= least) continue;
    least = far;
    best = candidate;
  }
  return std::string{best};
}

std::string imported_path(std::string_view code, const std::string& package) {
  for (const char quote : {'\'', '"'}) {
    const size_t at = code.find(quote + package + "/");
    if (at == std::string_view::npos) continue;
    const std::string_view path = code.substr(at + 1, kLongestLine);
    if (const size_t end = path.find(quote); end < 100) return std::string{path.substr(0, end)};
  }
  return package;
}

std::vector<std::string> imported_packages(std::string_view code) {
  std::vector<std::string> found;
  for_lines_with(code, "import", "require", [&found](const std::string& line) {
    for (const std::string& specifier : specifiers(line)) {
      const std::string package = package_of(specifier);
      const bool known = std::find(found.begin(), found.end(), package) != found.end();
      if (!package.empty() && !is_builtin(specifier) && !is_builtin(package) && !known)
        found.push_back(package);
    }
    return found.size() < 10;
  });
  return found;
}

std::vector<std::string> imports_for_requires(std::string_view code, size_t limit) {
  static const std::regex kRequire{
      R"((?:const|let|var)\s+(\w{1,40}|\{[\w\s,:]{1,80}\})\s*=\s*require\s*\(\s*['"]([^'"]{1,60})['"]\s*\)(\s*\.\s*(\w{1,40}))?)"};
  std::vector<std::string> statements;
  for_lines_with(code, "require", "require", [&](const std::string& line) {
    std::smatch match;
    if (!std::regex_search(line, match, kRequire)) return true;
    std::string names = match[1];
    std::string module = match[2];
    if (is_builtin(module) && !module.starts_with("node:")) module.insert(0, "node:");
    const std::string member = match[4];
    const bool is_module = is_builtin(module + "/" + member);  // require("fs").promises
    const bool apart = names.starts_with('{');
    if (apart && !member.empty() && !is_module) return true;
    if (apart) names = import_names(names);
    if (is_module) module += "/" + member;
    if (!is_module && !member.empty()) names = fmt::format("{{ {} as {} }}", member, names);
    statements.push_back(fmt::format("import {} from '{}';", names, module));
    return statements.size() < limit;
  });
  return statements;
}

bool looks_like_typescript(std::string_view line) {
  static const std::regex kSigns[] = {
      std::regex{
          R"(^\s*(export\s+)?(declare\s+)?(interface|enum|namespace|abstract\s+class)\s+\w)"},
      std::regex{R"(^\s*(export\s+)?type\s+\w+(<[^>]*>)?\s*=)"},
      std::regex{R"(^\s*(import|export)\s+type\b)"},
      std::regex{
          R"([\w)\]?]\s*:\s*(string|number|boolean|any|void|unknown|never|object|bigint|null|undefined|readonly)\b)"},
      std::regex{R"([\w)\]?]\s*:\s*[A-Z]\w*(<[^;]*>)?(\[\])?\s*[=,;){])"},
      std::regex{R"(\bas\s+(const|any|unknown|string|number|boolean|[A-Z]\w*)\b)"},
      std::regex{
          R"(\b(private|public|protected|readonly|override)\s+(static\s+|readonly\s+|async\s+)*[\w#]+\s*[=:;(?])"},
      std::regex{R"(\w<\s*(string|number|boolean|any|unknown|[A-Z]\w*)[\w\s,<>\[\]|]*>\s*\()"},
      std::regex{R"([\w)\]]!\s*[.;)\[])"},
      std::regex{R"(\bfunction\s+\w+\s*<\s*\w)"},
  };
  const std::string text{line.substr(0, kLongestLine)};
  return std::any_of(std::begin(kSigns), std::end(kSigns),
                     [&text](const std::regex& sign) { return std::regex_search(text, sign); });
}

}  // namespace belljar::tools
