#include "mcp/line_splitter.h"

namespace belljar::mcp {

namespace {

constexpr size_t kKeep =
    1u << 20;  // more memory than this is given back once it is no longer needed

LineSplitter::Line make_line(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  return LineSplitter::Line{text};
}

}  // namespace

void LineSplitter::feed(std::string_view chunk) {
  buffer_.erase(0, start_);
  scanned_ -= start_;
  start_ = 0;
  if (buffer_.empty() && buffer_.capacity() > kKeep) buffer_ = std::string{};
  buffer_ += chunk;
}

std::optional<LineSplitter::Line> LineSplitter::next() {
  while (true) {
    const size_t newline = buffer_.find('\n', scanned_);
    const bool complete = newline != std::string::npos;
    const size_t end = complete ? newline : buffer_.size();
    const size_t line_start = start_;
    const bool was_skipping = skipping_;
    const bool too_long = !was_skipping && end - start_ > max_line_;
    scanned_ = complete ? end + 1 : end;
    skipping_ = !complete && (was_skipping || too_long);
    if (complete || skipping_) start_ = scanned_;  // what is skipped is not kept
    if (too_long) return Line{{}, true};
    if (!complete) return std::nullopt;
    if (!was_skipping) {
      return make_line(std::string_view{buffer_}.substr(line_start, end - line_start));
    }
  }
}

std::optional<LineSplitter::Line> LineSplitter::finish() {
  if (skipping_ || start_ == buffer_.size()) return std::nullopt;
  const Line line = make_line(std::string_view{buffer_}.substr(start_));
  start_ = scanned_ = buffer_.size();
  return line;
}

}  // namespace belljar::mcp
