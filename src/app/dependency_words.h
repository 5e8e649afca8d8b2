#pragma once

#include <string>
#include <vector>

#include "packages/dependency.h"
#include "tools/install_failure.h"

namespace belljar::app {

// As on npm's command line: "lodash", "lodash@^4", "@scope/name@1.2.3".
inline std::vector<packages::Dependency> to_dependencies(const std::vector<std::string>& specs) {
  std::vector<packages::Dependency> dependencies;
  for (const std::string& spec : specs) {
    std::string name = tools::name_in_spec(spec);
    std::string version = name.size() < spec.size() ? spec.substr(name.size() + 1) : "latest";
    dependencies.push_back({std::move(name), std::move(version)});
  }
  packages::check_dependencies(dependencies);
  return dependencies;
}

}  // namespace belljar::app
