#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace belljar {

// What programs of a sandbox wanted of one place outside, and got.
struct Traffic {
  enum class Verdict { allowed, blocked, failed };  // failed: allowed, but nobody answered
  std::string host;   // its name, if it was looked up; otherwise its address
  uint16_t port = 0;  // 0: a name was looked up and refused
  Verdict verdict = Verdict::allowed;
  uint64_t attempts = 0;
  uint64_t bytes = 0;  // in both directions
};

// The way out of one sandbox. It ends with this object.
class Connectivity {
 public:
  virtual ~Connectivity() = default;

  // Since it began, in the order of first attempts.
  virtual std::vector<Traffic> traffic() const = 0;

  // What it allows, in the words of the setting `network`.
  virtual std::string policy() const = 0;
};

}  // namespace belljar
