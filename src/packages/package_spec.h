#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "packages/semver.h"

namespace belljar::packages {

// What the right side of a dependency means, as npm reads it: "^1.2.0", "1.2.3", "latest",
// "npm:other@^2".
struct PackageSpec {
  enum class Kind {
    version,
    range,
    tag,
    other,  // from elsewhere (git, a file, an address), or not understood: npm must decide
  };
  Kind kind = Kind::other;
  std::string name;  // what the registry is asked for: the dependency's name, or an alias's target
  std::string text;  // "^1.2.0"; "*" if nothing was said
  std::optional<Version> version;  // Kind::version
  std::optional<Range> range;      // Kind::range

  static PackageSpec parse(std::string_view name, std::string_view text);

  // "*" itself accepts pre-releases too, and so does a tag: whatever is there once had it.
  bool accepts(const Version& version) const;
  bool is_any() const { return kind == Kind::range && text == "*"; }
};

// The order in which npm looks at names and paths: String.localeCompare of the language en.
// ASCII only, which names of packages are.
int compare_as_english(std::string_view a, std::string_view b);

}  // namespace belljar::packages
