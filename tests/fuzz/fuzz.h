#pragma once

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"

// What the fuzz targets share. A target feeds one input to a parser of ours and checks what its
// header promises. An exception of any class but Error leaves the target and counts as a crash.
namespace belljar::fuzz {

inline void expect(bool holds, std::string_view promise) {
  if (holds) return;
  fmt::print(stderr, "broken promise: {}\n", promise);
  std::abort();
}

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A file without a name that holds these bytes; its offset is at their end.
inline Fd memory_file(std::string_view bytes) {
  Fd file{sys(::memfd_create("fuzz", MFD_CLOEXEC), "create a file in memory")};
  while (!bytes.empty())
    bytes.remove_prefix(
        static_cast<size_t>(sys(::write(file.get(), bytes.data(), bytes.size()), "write to it")));
  return file;
}

// Runs something that may refuse its input.
template <class Function>
void may_refuse(Function function) {
  try {
    function();
  } catch (const Error&) {
    return;
  }
}

}  // namespace belljar::fuzz
