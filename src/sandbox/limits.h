#pragma once

#include <cstdint>

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

}  // namespace belljar
