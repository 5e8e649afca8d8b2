#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::packages {

// The host as npm would see it. A value, so that a test can make up another host.
struct Surroundings {
  std::map<std::string, std::string, std::less<>> environment;
  std::string home;
  // Where Node.js and npm are looked for when PATH does not lead to them.
  std::vector<std::string> prefixes = {"/usr/local", "/usr"};

  static Surroundings of_this_process();

  const std::string* variable(std::string_view name) const;
};

// Every program of that name in PATH, then in the `bin` of the prefixes: first the one a shell
// would take. Links are resolved; nothing is run.
std::vector<std::string> find_programs(const Surroundings& host, std::string_view name);

// The directory of the host's own npm (…/node_modules/npm), or "".
std::string find_npm_directory(const Surroundings& host);

// The registry that npm uses when nothing is configured, as that npm's own sources define it.
std::optional<std::string> default_registry_of(const std::string& npm_directory);

}  // namespace belljar::packages
