#include "base/bytes.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>

namespace belljar {

std::optional<uint64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string unit;
  for (const char* c = end; c != text.data() + text.size(); ++c) {
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  }
  constexpr std::string_view kUnits = "kmgt";
  double scale = 1;
  if (!unit.empty() && unit != "b") {
    const size_t index = kUnits.find(unit.front());
    const std::string_view rest = std::string_view{unit}.substr(1);
    if (index == std::string_view::npos || !(rest.empty() || rest == "b" || rest == "ib")) {
      return std::nullopt;
    }
    scale = std::ldexp(1.0, static_cast<int>(10 * (index + 1)));
  }
  const double bytes = number * scale;
  if (bytes >= 9.0e18 || bytes != std::floor(bytes)) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

std::string format_bytes(uint64_t bytes) {
  constexpr const char* kNames[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  double value = static_cast<double>(bytes);
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return value == std::floor(value) ? fmt::format("{:.0f} {}", value, kNames[unit])
                                    : fmt::format("{:.1f} {}", value, kNames[unit]);
}

std::string base64(std::string_view bytes) {
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  const auto byte = [bytes](size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
  };
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    text += kAlphabet[group >> 18];
    text += kAlphabet[(group >> 12) & 63];
    text += i + 1 < bytes.size() ? kAlphabet[(group >> 6) & 63] : '=';
    text += i + 2 < bytes.size() ? kAlphabet[group & 63] : '=';
  }
  return text;
}

}  // namespace belljar
