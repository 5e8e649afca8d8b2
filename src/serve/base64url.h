#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace belljar::serve {

// Base64 with the alphabet for URLs and without padding, as tokens have it.
std::string base64url(std::string_view bytes);

// What such a text means; nothing if it is none, or not the only one for these bytes.
std::optional<std::string> parse_base64url(std::string_view text);

}  // namespace belljar::serve
