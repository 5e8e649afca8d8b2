#include "packages/semver.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace belljar::packages {
namespace {

constexpr uint64_t kLargest = (1ull << 53) - 1;  // JavaScript's MAX_SAFE_INTEGER
constexpr size_t kLongest = 256;

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Takes a number off the front; no leading zeros.
std::optional<uint64_t> take_number(std::string_view& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const size_t length = static_cast<size_t>(end - text.data());
  if (error != std::errc{} || value > kLargest) return std::nullopt;
  if (length > 1 && text.front() == '0') return std::nullopt;
  text.remove_prefix(length);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

enum class LeadingZeros { allowed, refused };

bool split_identifiers(std::string_view text, LeadingZeros zeros, std::vector<std::string>& out) {
  while (true) {
    const size_t dot = std::min(text.find('.'), text.size());
    const std::string_view part = text.substr(0, dot);
    const bool clean = std::all_of(part.begin(), part.end(), [](unsigned char c) {
      return c < 0x80 && (std::isalnum(c) || c == '-');
    });
    if (part.empty() || !clean) return false;
    if (zeros == LeadingZeros::refused && is_number(part) && part.size() > 1 && part.front() == '0')
      return false;
    out.emplace_back(part);
    if (dot == text.size()) return true;
    text.remove_prefix(dot + 1);
  }
}

std::strong_ordering compare_identifiers(const std::string& a, const std::string& b) {
  const bool a_number = is_number(a);
  if (a_number != is_number(b))
    return a_number ? std::strong_ordering::less : std::strong_ordering::greater;
  if (a_number && a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

}  // namespace

std::strong_ordering Version::operator<=>(const Version& other) const {
  if (const auto order = major <=> other.major; order != 0) return order;
  if (const auto order = minor <=> other.minor; order != 0) return order;
  if (const auto order = patch <=> other.patch; order != 0) return order;
  // A release comes after its pre-releases.
  if (is_prerelease() != other.is_prerelease())
    return is_prerelease() ? std::strong_ordering::less : std::strong_ordering::greater;
  const size_t common = std::min(prerelease.size(), other.prerelease.size());
  for (size_t i = 0; i < common; ++i) {
    const auto order = compare_identifiers(prerelease[i], other.prerelease[i]);
    if (order != 0) return order;
  }
  return prerelease.size() <=> other.prerelease.size();
}

std::optional<Version> parse_version(std::string_view text) {
  if (text.size() > kLongest) return std::nullopt;
  if (!text.empty() && text.front() == '=') text.remove_prefix(1);
  if (!text.empty() && text.front() == 'v') text.remove_prefix(1);
  Version version;
  const auto major = take_number(text);
  if (!major || !take(text, '.')) return std::nullopt;
  const auto minor = take_number(text);
  if (!minor || !take(text, '.')) return std::nullopt;
  const auto patch = take_number(text);
  if (!patch) return std::nullopt;
  version.major = *major;
  version.minor = *minor;
  version.patch = *patch;
  if (const size_t plus = text.find('+'); plus != std::string_view::npos) {
    std::vector<std::string> ignored;
    if (!split_identifiers(text.substr(plus + 1), LeadingZeros::allowed, ignored))
      return std::nullopt;
    text = text.substr(0, plus);
  }
  if (text.empty()) return version;
  if (!take(text, '-') || !split_identifiers(text, LeadingZeros::refused, version.prerelease))
    return std::nullopt;
  return version;
}

std::string to_string(const Version& version) {
  std::string text = fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
  for (size_t i = 0; i < version.prerelease.size(); ++i)
    text += (i == 0 ? "-" : ".") + version.prerelease[i];
  return text;
}

}  // namespace belljar::packages
