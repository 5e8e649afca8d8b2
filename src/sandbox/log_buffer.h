#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace belljar {

// The newest output of a program that runs on and on. Every byte it ever wrote has a number, its
// cursor; a reader who comes back with the cursor of its last visit gets what is new.
class LogBuffer {
 public:
  // Keeps the last `limit` bytes, or a little more.
  explicit LogBuffer(size_t limit) : limit_{limit} {}

  void write(std::string_view bytes);

  struct Part {
    std::string text;      // well-formed UTF-8
    uint64_t cursor = 0;   // where to go on reading
    uint64_t dropped = 0;  // bytes that the reader has missed: they were thrown away
    bool more = false;     // there is more than `max`
  };
  // From `cursor`, at most `max` bytes. A character of which not all bytes are there yet is left
  // for the next visit unless `final`.
  Part read(uint64_t cursor, size_t max, bool final) const;

  uint64_t end() const { return begin_ + bytes_.size(); }

 private:
  size_t limit_;
  std::string bytes_;
  uint64_t begin_ = 0;  // the number of the first byte that is still there
};

}  // namespace belljar
