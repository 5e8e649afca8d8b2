#include "base/bytes.h"

#include <fmt/format.h>

#include <array>
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

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<signed char, 256> kValues = [] {
  std::array<signed char, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<signed char>(i);
  }
  return values;
}();

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  const auto* in = reinterpret_cast<const unsigned char*>(bytes.data());
  char* out = text.data();
  const auto put = [&out](unsigned group, int characters) {
    for (int i = 0; i < characters; ++i) out[i] = kAlphabet[group >> (18 - 6 * i) & 63];
    out += 4;
  };
  size_t left = bytes.size();
  for (; left >= 3; left -= 3, in += 3) {
    put(static_cast<unsigned>(in[0] << 16 | in[1] << 8 | in[2]), 4);
  }
  if (left == 2) put(static_cast<unsigned>(in[0] << 16 | in[1] << 8), 3);
  if (left == 1) put(static_cast<unsigned>(in[0] << 16), 2);
  return text;
}

std::optional<std::string> parse_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  unsigned group = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const int value = i >= text.size() - padding ? 0 : kValues[static_cast<unsigned char>(text[i])];
    if (value < 0) return std::nullopt;
    group = group << 6 | static_cast<unsigned>(value);
    if (i % 4 != 3) continue;
    for (const int shift : {16, 8, 0}) bytes += static_cast<char>(group >> shift & 0xff);
    group = 0;
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace belljar
