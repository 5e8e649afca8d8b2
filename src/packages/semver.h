#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::packages {

// A version as npm understands it (semver 2.0): 1.2.3, 1.2.3-rc.1. Build metadata (+abc) is
// dropped, as it has no say in the order.
struct Version {
  uint64_t major = 0;
  uint64_t minor = 0;
  uint64_t patch = 0;
  std::vector<std::string> prerelease;  // {"rc", "1"}; empty for a release

  bool is_prerelease() const { return !prerelease.empty(); }
  bool same_triple(const Version& other) const {
    return major == other.major && minor == other.minor && patch == other.patch;
  }
  std::strong_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const = default;
};

// A full version, with or without a leading "v" or "="; nothing for anything else. Numbers above
// 2^53 and texts above 256 characters are refused, as npm does.
std::optional<Version> parse_version(std::string_view text);

std::string to_string(const Version& version);

// Which versions are meant: "^1.2.0", "~1.2", ">=1 <3", "1.x || 2.0.0", "1.2 - 2.3", "*", "".
class Range {
 public:
  // Nothing if the text is no range (a dist-tag, a URL, …).
  static std::optional<Range> parse(std::string_view text);

  // A pre-release is accepted only where the range names one of the same three numbers.
  bool accepts(const Version& version) const;

 private:
  enum class Operator { less, less_or_equal, greater, greater_or_equal, equal };
  struct Comparator {
    Operator op;
    Version version;
  };
  struct Partial;
  using All = std::vector<Comparator>;  // every one must hold

  static std::optional<Partial> parse_partial(std::string_view text);
  static bool add_hyphen(All& all, std::string_view from, std::string_view to);
  static bool add_simple(All& all, std::string_view text);
  static std::optional<All> parse_all(std::string_view text);

  std::vector<All> any_;  // at least one must hold
};

}  // namespace belljar::packages
