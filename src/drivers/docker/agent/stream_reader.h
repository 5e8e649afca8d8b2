#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace belljar::agent {

// Puts what was read of a stream together. From an engine it comes in pieces, each with a head: the
// stream (1 for stdout, 2 for stderr), three zeros and the length, the most significant byte first.
// What a container says on stderr is dropped.
class StreamReader {
 public:
  explicit StreamReader(bool has_heads) : has_heads_{has_heads} {}

  // False if that is no head.
  bool feed(std::string_view bytes);

  std::string_view content() const { return std::string_view{content_}.substr(taken_); }
  void take(size_t count) { taken_ += count; }

 private:
  bool feed_head(std::string_view& bytes);

  bool has_heads_;
  std::string head_;
  uint32_t left_ = 0;  // of the piece
  bool is_content_ = true;
  std::string content_;
  size_t taken_ = 0;
};

}  // namespace belljar::agent
