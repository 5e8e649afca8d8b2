#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace belljar::mcp {

// Cuts a stream of bytes into lines. Memory is bounded by the limit plus one chunk: a longer line
// is reported once and skipped up to its newline.
//
//   splitter.feed(chunk);
//   while (const auto line = splitter.next()) …
class LineSplitter {
 public:
  struct Line {
    std::string_view text;  // without "\n" or "\r\n"; valid until the next call of feed() or next()
    bool too_long = false;  // then `text` is empty
  };

  explicit LineSplitter(size_t max_line) : max_line_{max_line} {}

  void feed(std::string_view chunk);

  // The next complete line, or nothing until more is fed. Lines may be empty.
  std::optional<Line> next();

  // After the last feed() and next(): the last line, if it did not end with a newline.
  std::optional<Line> finish();

 private:
  size_t max_line_;
  std::string buffer_;
  size_t start_ = 0;    // of the current line in `buffer_`
  size_t scanned_ = 0;  // no newline between `start_` and here
  bool skipping_ = false;
};

}  // namespace belljar::mcp
