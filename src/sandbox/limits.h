#pragma once

#include <cstdint>
#include <limits>

namespace belljar {

// What one sandbox may use. Enforced by the kernel, not by good manners; the wall clock of a run is
// the caller's business (with_timeout), because only the caller knows which run it was.
struct Limits {
  uint64_t memory = 512ull << 20;  // bytes, page cache and its own file systems included; no swap
  double cpus = 1;                 // processor time per wall time
  uint32_t pids = 256;             // processes and threads
  uint64_t disk = 256ull << 20;    // bytes of everything the sandbox may write to
  uint64_t inodes = 65536;         // files and directories it may create
};

// Between these an operator may choose. inodes are nobody's to choose.
inline constexpr Limits kLowestLimits{
    .memory = 16u << 20, .cpus = 0.01, .pids = 16, .disk = 1u << 20};
inline constexpr Limits kHighestLimits{.memory = std::numeric_limits<uint64_t>::max(),
                                       .cpus = 1000,
                                       .pids = 100'000,
                                       .disk = std::numeric_limits<uint64_t>::max()};

}  // namespace belljar
