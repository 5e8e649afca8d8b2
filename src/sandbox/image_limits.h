#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/limits.h"

namespace belljar {

// Some limits. What is not given stays as it is elsewhere.
struct SomeLimits {
  std::optional<uint64_t> memory;
  std::optional<double> cpus;
  std::optional<uint32_t> pids;
  std::optional<uint64_t> disk;

  Limits over(Limits usual) const;
  std::string text() const;  // "memory:2g,cpus:2"
};

// What an operator says about the limits of images, by their names:
//
//   const auto limits = ImageLimits::parse("node:20*=memory:256m; acme/*=memory:2g,cpus:2");
//   spec.limits = limits.of("node:20-slim", usual);
class ImageLimits {
 public:
  struct Rule {
    std::string pattern;  // a name, in which * stands for anything, also nothing and slashes
    SomeLimits limits;
  };

  // Error{invalid} that says which entry is wrong, and what it may be.
  static ImageLimits parse(std::string_view text);

  // Those of the first pattern that the name matches, in place of the usual ones.
  Limits of(const std::string& image, Limits usual) const;

  const std::vector<Rule>& rules() const { return rules_; }
  std::string text() const;  // parse() gives the same rules again; "": there are none

 private:
  std::vector<Rule> rules_;
};

}  // namespace belljar
