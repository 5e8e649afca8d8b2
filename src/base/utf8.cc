#include "base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace belljar {

namespace {

// Length of the well-formed sequence at the start of `text`, or 0; `bad` is then the number of
// bytes that one replacement character stands for (the maximal subpart, as the Unicode standard
// advises).
size_t sequence_length(std::string_view text, size_t& bad) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  bad = 1;
  if (lead < 0x80) return 1;
  size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) {
      bad = i;
      return 0;
    }
    low = 0x80;
    high = 0xbf;
  }
  return length;
}

// The length of the ASCII at the start of `text`, in whole words: most of what is looked at is
// nothing else.
size_t ascii_length(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  size_t at = 0;
  for (uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  return at;
}

}  // namespace

bool is_utf8(std::string_view text) {
  size_t bad = 0;
  for (text.remove_prefix(ascii_length(text)); !text.empty();) {
    const size_t length = sequence_length(text, bad);
    if (length == 0) return false;
    text.remove_prefix(length);
    if (length > 1) text.remove_prefix(ascii_length(text));
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    size_t bad = 0;
    const size_t length = sequence_length(text, bad);
    if (length == 0) {
      result += "\xef\xbf\xbd";
      text.remove_prefix(bad);
    } else {
      result += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return result;
}

size_t utf8_prefix(std::string_view text, size_t limit) {
  if (limit >= text.size()) return text.size();
  size_t length = limit;
  const size_t earliest = limit - std::min<size_t>(limit, 3);
  while (length > earliest && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  return length;
}

size_t utf8_complete(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const size_t needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace belljar
