#include "files/uri.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "base/error.h"
#include "base/utf8.h"

namespace belljar::files {

namespace {

constexpr std::string_view kScheme = "file://";

// Not by <cctype>: that depends on the locale.
bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_unreserved(char c) {
  return is_alphanumeric(c) || std::string_view{"-._~"}.find(c) != std::string_view::npos;
}

// Besides the unreserved ones: what may stand in the path of a URI as it is.
bool is_path_character(char c) {
  return is_unreserved(c) || std::string_view{"/!$&'()*+,;=:@"}.find(c) != std::string_view::npos;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool starts_with_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(), [](char a, char b) {
           return a == b || (b >= 'A' && b <= 'Z' && a == b - 'A' + 'a');
         });
}

[[noreturn]] void refuse(std::string_view uri, std::string_view why) {
  const std::string_view start = uri.substr(0, 100);
  fail(Code::invalid, "\"{}{}\" {}; it must be like \"file:///directory/name\"",
       display_name(start), start.size() < uri.size() ? "…" : "", why);
}

char decode_at(std::string_view uri, std::string_view path, size_t at) {
  const int high = at + 2 < path.size() ? hex_digit(path[at + 1]) : -1;
  const int low = at + 2 < path.size() ? hex_digit(path[at + 2]) : -1;
  if (high < 0 || low < 0) refuse(uri, "has a \"%\" without two hexadecimal digits");
  const char byte = static_cast<char>(high * 16 + low);
  if (byte == '\0') refuse(uri, "contains an encoded NUL");
  if (byte == '/') refuse(uri, "contains an encoded slash");
  return byte;
}

struct Range {
  uint32_t first;
  uint32_t last;
};
// Characters that change how the text around them looks, or that nobody sees.
constexpr std::array kHidden{
    Range{0x00, 0x1f},     Range{0x7f, 0x9f},     Range{0x061c, 0x061c},
    Range{0x200e, 0x200f}, Range{0x2028, 0x202e}, Range{0x2066, 0x2069},
    Range{0xfeff, 0xfeff}, Range{0xfff9, 0xfffb}, Range{0xe0000, 0xe007f},
};

bool is_hidden(uint32_t character) {
  return std::any_of(kHidden.begin(), kHidden.end(), [character](const Range& range) {
    return character >= range.first && character <= range.last;
  });
}

// Takes one character off well-formed UTF-8.
uint32_t take_character(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  uint32_t character = length == 1 ? lead : lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  }
  text.remove_prefix(length);
  return character;
}

}  // namespace

std::string to_file_uri(std::string_view path) {
  std::string uri{kScheme};
  for (const char c : path) {
    if (is_unreserved(c) || c == '/') {
      uri += c;
    } else {
      fmt::format_to(std::back_inserter(uri), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

std::string parse_file_uri(std::string_view uri) {
  constexpr std::string_view kLocalHost = "localhost";
  if (!starts_with_ignoring_case(uri, kScheme)) refuse(uri, "is not a file URI");
  std::string_view rest = uri.substr(kScheme.size());
  if (starts_with_ignoring_case(rest, kLocalHost)) rest.remove_prefix(kLocalHost.size());
  if (!rest.starts_with('/')) refuse(uri, "names another host or no absolute path");
  std::string path;
  for (size_t at = 0; at < rest.size(); ++at) {
    if (rest[at] == '%') {
      path += decode_at(uri, rest, at);
      at += 2;
    } else if (is_path_character(rest[at])) {
      path += rest[at];
    } else if (rest[at] == '?' || rest[at] == '#') {
      refuse(uri, "has a query or a fragment");
    } else {
      refuse(uri, "contains characters that have to be percent-encoded");
    }
  }
  return path;
}

std::string display_name(std::string_view bytes) {
  const std::string text = to_utf8(bytes);
  std::string shown;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view start = rest;
    const uint32_t character = take_character(rest);
    switch (character) {
      case '\n': shown += "\\n"; break;
      case '\r': shown += "\\r"; break;
      case '\t': shown += "\\t"; break;
      case '\\': shown += "\\\\"; break;
      default:
        if (is_hidden(character)) {
          fmt::format_to(std::back_inserter(shown), "\\u{{{:x}}}", character);
        } else {
          shown += start.substr(0, start.size() - rest.size());
        }
    }
  }
  return shown;
}

}  // namespace belljar::files
