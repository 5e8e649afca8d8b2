#include "drivers/docker/agent/stream_reader.h"

#include <algorithm>

namespace belljar::agent {

bool StreamReader::feed(std::string_view bytes) {
  content_.erase(0, taken_);
  taken_ = 0;
  if (!has_heads_) {
    content_ += bytes;
    return true;
  }
  while (!bytes.empty()) {
    if (left_ == 0 && !feed_head(bytes)) return false;
    const std::string_view piece = bytes.substr(0, left_);
    if (is_content_) content_ += piece;
    left_ -= static_cast<uint32_t>(piece.size());
    bytes.remove_prefix(piece.size());
  }
  return true;
}

bool StreamReader::feed_head(std::string_view& bytes) {
  constexpr size_t kSize = 8;
  const size_t count = std::min(kSize - head_.size(), bytes.size());
  head_ += bytes.substr(0, count);
  bytes.remove_prefix(count);
  if (head_.size() < kSize) return true;
  for (size_t i = 4; i < kSize; ++i) left_ = left_ << 8 | static_cast<unsigned char>(head_[i]);
  const char stream = head_[0];
  is_content_ = stream == 1;
  head_.clear();
  return stream == 1 || stream == 2;
}

}  // namespace belljar::agent
