#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace belljar::packages {

// A package that a client asks for.
struct Dependency {
  std::string name;
  std::string version;  // a range or a dist-tag
};

inline constexpr size_t kMaxDependencies = 100;

// True for what npm looks up in a registry: a version, a range or a dist-tag. False for everything
// that npm would take from elsewhere (file:, git+…, a URL, a path, a tarball, an alias npm:…) or
// for an option (-g), and for no text at all.
bool is_package_spec(std::string_view text);

// Error{invalid} that names the argument, what it was and what it may be:
// `argument "dependencies[1].version" is "git+…"; it must be …`.
void check_dependency(size_t index, const Dependency& dependency);

// Each of them; also that there are not too many, and none twice.
void check_dependencies(const std::vector<Dependency>& dependencies);

}  // namespace belljar::packages
