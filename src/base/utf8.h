#pragma once

#include <string>
#include <string_view>

namespace belljar {

// True if `text` is well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF).
bool is_utf8(std::string_view text);

// `text` with every ill-formed byte sequence replaced by U+FFFD. Boost.JSON writes bytes as they
// are, so whatever a program printed goes through here once before it becomes part of a message.
std::string to_utf8(std::string_view text);

// The largest prefix length <= `limit` that does not cut a character in two.
size_t utf8_prefix(std::string_view text, size_t limit);

// The length of `text` without the beginning of a character at its end whose other bytes are not
// there.
size_t utf8_complete(std::string_view text);

}  // namespace belljar
