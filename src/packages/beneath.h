#pragma once

#include <fcntl.h>

#include <cstdint>

namespace belljar::packages {

// openat2 that follows no link and does not leave the directory: for trees whose names come from
// packages. The new descriptor (close-on-exec), or -1 and errno.
int open_beneath(int directory, const char* path, uint64_t flags, uint64_t mode = 0);

}  // namespace belljar::packages
