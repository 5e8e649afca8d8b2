#include "sandbox/output_buffer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/utf8.h"

namespace belljar {

namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// Without the last bytes of a character whose beginning was dropped.
std::string_view without_cut_start(std::string_view text) {
  for (int i = 0; i < 3 && !text.empty() && is_continuation(text.front()); ++i) {
    text.remove_prefix(1);
  }
  return text;
}

}  // namespace

OutputBuffer::OutputBuffer(size_t limit) : head_limit_{limit - limit / 2}, tail_limit_{limit / 2} {}

void OutputBuffer::write(std::string_view bytes) {
  total_ += bytes.size();
  const size_t first = std::min(bytes.size(), head_limit_ - head_.size());
  head_ += bytes.substr(0, first);
  bytes.remove_prefix(first);

  if (bytes.size() >= tail_limit_) {
    ring_ = bytes.substr(bytes.size() - tail_limit_);
    ring_start_ = 0;
    return;
  }
  const size_t room = std::min(bytes.size(), tail_limit_ - ring_.size());
  ring_ += bytes.substr(0, room);
  bytes.remove_prefix(room);
  while (!bytes.empty()) {
    const size_t part = std::min(bytes.size(), tail_limit_ - ring_start_);
    bytes.copy(ring_.data() + ring_start_, part);
    ring_start_ = (ring_start_ + part) % tail_limit_;
    bytes.remove_prefix(part);
  }
}

std::string OutputBuffer::tail() const {
  return ring_.substr(ring_start_) + ring_.substr(0, ring_start_);
}

CapturedOutput OutputBuffer::take() const {
  CapturedOutput output;
  output.total_bytes = total_;
  output.truncated = total_ > head_.size() + ring_.size();
  const std::string last = tail();
  if (!output.truncated) {
    output.text = to_utf8(head_ + last);
    return output;
  }
  const std::string_view begin = std::string_view{head_}.substr(0, utf8_complete(head_));
  const std::string_view end = without_cut_start(last);
  const bool starts_line = begin.empty() || begin.back() == '\n';
  output.text = fmt::format("{}{}[… {} omitted …]\n{}", to_utf8(begin), starts_line ? "" : "\n",
                            format_bytes(total_ - begin.size() - end.size()), to_utf8(end));
  return output;
}

}  // namespace belljar
