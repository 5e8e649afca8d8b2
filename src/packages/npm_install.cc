#include "packages/npm_install.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/posix.h"

namespace belljar::packages {
namespace {

namespace fs = std::filesystem;

std::string home_directory(const Surroundings& host) {
  if (const std::string* home = host.variable("HOME"); home != nullptr && !home->empty())
    return *home;
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_dir : "/";
}

// `new Definition('registry', { default: '…'` in npm 10 and newer, `define('registry', {…` before.
std::optional<std::string> scan_definition(std::string_view source) {
  const size_t start = source.find("('registry', {");
  if (start == std::string_view::npos) return std::nullopt;
  source.remove_prefix(start);
  const size_t at = source.find("default:");
  if (at == std::string_view::npos || at > 200) return std::nullopt;
  source.remove_prefix(at + 8);
  const size_t open = source.find_first_of("'\"`");
  if (open == std::string_view::npos || open > 8) return std::nullopt;
  const char quote = source[open];
  source.remove_prefix(open + 1);
  const size_t close = source.find(quote);
  if (close == std::string_view::npos || close > 500) return std::nullopt;
  return std::string{source.substr(0, close)};
}

}  // namespace

Surroundings Surroundings::of_this_process() {
  Surroundings host;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    host.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  host.home = home_directory(host);
  return host;
}

const std::string* Surroundings::variable(std::string_view name) const {
  const auto at = environment.find(name);
  return at == environment.end() ? nullptr : &at->second;
}

std::vector<std::string> find_programs(const Surroundings& host, std::string_view name) {
  std::vector<std::string> directories;
  if (const std::string* path = host.variable("PATH")) {
    std::string_view rest = *path;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(':'), rest.size());
      // A relative entry depends on where we were started: not a place to take programs from.
      if (rest.front() == '/') directories.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  for (const std::string& prefix : host.prefixes) directories.push_back(prefix + "/bin");
  std::vector<std::string> programs;
  for (const std::string& directory : directories) {
    std::error_code error;
    const std::string real = fs::canonical(fs::path{directory} / name, error).string();
    if (error || !fs::is_regular_file(real, error) || ::access(real.c_str(), X_OK) != 0) continue;
    if (std::find(programs.begin(), programs.end(), real) == programs.end())
      programs.push_back(real);
  }
  return programs;
}

std::string find_npm_directory(const Surroundings& host) {
  std::vector<fs::path> candidates;
  // …/node_modules/npm/bin/npm-cli.js
  for (const std::string& program : find_programs(host, "npm"))
    candidates.push_back(fs::path{program}.parent_path().parent_path());
  for (const std::string& prefix : host.prefixes) {
    candidates.push_back(prefix + "/lib/node_modules/npm");
    candidates.push_back(prefix + "/share/nodejs/npm");
  }
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    if (fs::exists(candidate / "package.json", error) && candidate.filename() == "npm")
      return candidate.string();
  }
  return "";
}

std::optional<std::string> default_registry_of(const std::string& npm_directory) {
  if (npm_directory.empty()) return std::nullopt;
  const std::string places[] = {
      npm_directory + "/node_modules/@npmcli/config/lib/definitions/definitions.js",
      npm_directory + "/../@npmcli/config/lib/definitions/definitions.js",  // Debian's own package
      npm_directory + "/lib/utils/config/definitions.js",                   // npm 7 to 9
  };
  for (const std::string& place : places) {
    if (::access(place.c_str(), R_OK) != 0) continue;
    if (auto registry = scan_definition(read_file(place))) return registry;
  }
  return std::nullopt;
}

}  // namespace belljar::packages
