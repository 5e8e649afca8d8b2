#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace belljar {

// What a stream carried, ready to be shown.
struct CapturedOutput {
  std::string text;          // always well-formed UTF-8
  uint64_t total_bytes = 0;  // what the program really wrote
  bool truncated = false;    // the middle is missing; `text` says so on a line of its own
};

// Keeps the beginning and the end of a stream of any length in a fixed amount of memory: programs
// tell what they are about at the start and why they failed at the end.
//
//   OutputBuffer buffer{1 << 20};
//   buffer.write(bytes);                  // as often as you like
//   CapturedOutput output = buffer.take();  // "first half\n[… 98 MiB omitted …]\nlast half"
class OutputBuffer {
 public:
  // Keeps at most `limit` bytes. Memory grows with what was written, up to the limit.
  explicit OutputBuffer(size_t limit);

  void write(std::string_view bytes);

  // The bytes as text. Characters are not cut at the gap; ill-formed bytes become U+FFFD.
  CapturedOutput take() const;

 private:
  std::string tail() const;

  size_t head_limit_;
  size_t tail_limit_;
  std::string head_;
  std::string ring_;       // the last `tail_limit_` bytes after the head
  size_t ring_start_ = 0;  // where the oldest byte of a full ring is
  uint64_t total_ = 0;
};

}  // namespace belljar
