#include "serve/base64url.h"

#include <algorithm>

#include "base/bytes.h"

namespace belljar::serve {

std::string base64url(std::string_view bytes) {
  std::string text = base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::optional<std::string> parse_base64url(std::string_view text) {
  if (text.find_first_of("+/=") != std::string_view::npos) return std::nullopt;
  std::string standard{text};
  std::replace(standard.begin(), standard.end(), '-', '+');
  std::replace(standard.begin(), standard.end(), '_', '/');
  standard.append((4 - standard.size() % 4) % 4, '=');
  auto bytes = parse_base64(standard);
  // Bits after the last byte would let one token have several spellings.
  if (!bytes || base64url(*bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace belljar::serve
