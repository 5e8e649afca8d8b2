#pragma once

namespace belljar::agent {

// Whether the program at `path` is for musl, by the loader that it names: native parts of packages
// must be for the same C library. False for whatever is no such program.
bool is_for_musl(const char* path);

}  // namespace belljar::agent
