#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/fd.h"

namespace belljar::zygote {

// The writable private memory of this process but for the stack, in which things are found that
// Node.js does not export. It is read as a file is: other threads may give memory back at any time.
class OwnMemory {
 public:
  OwnMemory();
  ~OwnMemory();
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  // Calls `look` with every word, as `length` words that begin with it, and where they are.
  // Only in the heap of malloc() if `in_heap`.
  template <typename Look>
  void find(size_t length, bool in_heap, Look&& look) {
    for (const Mapping& mapping : mappings_) {
      if (in_heap && !mapping.is_heap) continue;
      uint64_t* place = mapping.first;
      while (place + length <= mapping.end) {
        const size_t count = read(place, mapping.end);
        if (count < length) break;
        const size_t looks = count - length + 1;
        for (size_t i = 0; i < looks; ++i)
          look(static_cast<const uint64_t*>(piece_ + i), place + i);
        place += looks;
      }
    }
  }

 private:
  struct Mapping {
    uint64_t* first;
    uint64_t* end;
    bool is_heap;
  };

  // The number of words that are in piece_ now.
  size_t read(const uint64_t* place, const uint64_t* end);

  static constexpr size_t kPiece = 128 << 10;
  Fd file_;
  uint64_t* piece_ = nullptr;
  std::vector<Mapping> mappings_;
};

}  // namespace belljar::zygote
