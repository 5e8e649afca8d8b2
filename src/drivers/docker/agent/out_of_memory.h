#pragma once

#include <cstdint>

#include "base/fd.h"

namespace belljar::agent {

// Where memory is short, programs go before the agent: they inherit its score from the moment in
// which they are made. Lowering it again needs no right as long as it does not go below what it was
// at first. Does nothing where that is not possible.
class OomScore {
 public:
  // To be made before this process is no longer dumpable: its files in /proc are not its own then.
  OomScore();
  void raise() const;
  void restore() const;

 private:
  Fd file_;
  char first_[16] = {};
};

// How often the kernel's OOM killer has struck in the container, by its cgroup, v2 or v1. Always 0
// where that cannot be seen.
uint64_t count_oom_kills();

}  // namespace belljar::agent
