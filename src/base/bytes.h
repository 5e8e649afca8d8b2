#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belljar {

// "512m", "1g", "64K", "1048576", "1.5g": a number of bytes with an optional unit (b, k, m, g, t;
// powers of 1024; "mb" and "MiB" are accepted too). Nothing if the text has another form or does
// not fit.
std::optional<uint64_t> parse_bytes(std::string_view text);

// 536870912 → "512 MiB".
std::string format_bytes(uint64_t bytes);

// Standard base64 with padding.
std::string base64(std::string_view bytes);

// What such a text means; nothing if it is none. White space is not part of it.
std::optional<std::string> parse_base64(std::string_view text);

}  // namespace belljar
