#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace belljar {

// What programs of a sandbox wanted of one place outside, and got.
struct Traffic {
  // failed: allowed, but nobody answered, or a limit was reached.
  enum class Verdict { allowed, blocked, failed };
  std::string host;   // its name, if it was looked up; otherwise its address
  uint16_t port = 0;  // 0: a name was looked up and refused
  Verdict verdict = Verdict::allowed;
  uint64_t attempts = 0;
  uint64_t bytes = 0;  // in both directions
  // Of the attempts, those for which there was no place among what this sandbox, or all of them
  // together, may have open at a time.
  uint64_t over_own_limit = 0;
  uint64_t over_shared_limit = 0;
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
