#include "packages/package_spec.h"

#include <algorithm>
#include <array>

#include "packages/package_document.h"

namespace belljar::packages {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool starts_with_ignoring_case(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && std::equal(start.begin(), start.end(), text.begin(),
                                                   [](char a, char b) { return a == lower(b); });
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\v\f";
  const size_t start = text.find_first_not_of(kSpace);
  if (start == text.npos) return {};
  return text.substr(start, text.find_last_not_of(kSpace) - start + 1);
}

bool ends_like_an_archive(std::string_view text) {
  std::string small{text};
  std::transform(small.begin(), small.end(), small.begin(), lower);
  return small.ends_with(".tgz") || small.ends_with(".tar.gz") || small.ends_with(".tar");
}

bool is_from_elsewhere(std::string_view text) {
  return text.starts_with('.') || text.find_first_of("/:\\") != text.npos ||
         ends_like_an_archive(text);
}

// What no range may look like: npm reads ranges more generously than we do, and a text that only
// it can read must not be taken for a tag.
bool is_tag(std::string_view text) {
  const auto may_stand_in_tag = [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || c == '-' || c == '_' || c == '.');
  };
  if (text.empty() || !std::isalpha(static_cast<unsigned char>(text.front()))) return false;
  if (text.size() > 1 && (text[0] == 'v' || text[0] == 'x' || text[0] == 'X') &&
      !std::isalpha(static_cast<unsigned char>(text[1])))
    return false;
  return std::all_of(text.begin(), text.end(), may_stand_in_tag);
}

// The rank of every character in the order of CLDR that a name or a path may have.
std::array<unsigned char, 256> ranks() {
  std::array<unsigned char, 256> result{};
  unsigned char rank = 1;
  for (const char c : std::string_view{"_-!.'()@*/~0123456789"})
    result[static_cast<unsigned char>(c)] = rank++;
  for (char c = 'a'; c <= 'z'; ++c) {
    result[static_cast<unsigned char>(c)] = rank;
    result[static_cast<unsigned char>(c - 'a' + 'A')] = rank++;
  }
  return result;
}

}  // namespace

PackageSpec PackageSpec::parse(std::string_view name, std::string_view text) {
  PackageSpec spec;
  spec.name = std::string{name};
  if (starts_with_ignoring_case(text, "npm:")) {
    text.remove_prefix(4);
    const size_t at = text.find('@', 1);
    if (starts_with_ignoring_case(text, "npm:")) return spec;
    spec = parse(text.substr(0, at), at == text.npos ? "*" : text.substr(at + 1));
    if (!is_package_name(spec.name)) spec.kind = Kind::other;
    return spec;
  }
  text = text.empty() ? "*" : trim(text);
  spec.text = std::string{text};
  if (is_from_elsewhere(text)) return spec;
  spec.version = parse_version(text);
  if (!spec.version) spec.range = Range::parse(text);
  if (spec.version)
    spec.kind = Kind::version;
  else if (spec.range)
    spec.kind = Kind::range;
  else if (is_tag(text))
    spec.kind = Kind::tag;
  return spec;
}

bool PackageSpec::accepts(const Version& candidate) const {
  switch (kind) {
    case Kind::version: return candidate == *version;
    case Kind::range: return is_any() || range->accepts(candidate);
    case Kind::tag: return true;
    case Kind::other: return false;
  }
  return false;
}

int compare_as_english(std::string_view a, std::string_view b) {
  static const std::array<unsigned char, 256> kRanks = ranks();
  const size_t common = std::min(a.size(), b.size());
  int by_case = 0;
  for (size_t i = 0; i < common; ++i) {
    if (a[i] == b[i]) continue;
    const int rank_a = kRanks[static_cast<unsigned char>(a[i])];
    const int rank_b = kRanks[static_cast<unsigned char>(b[i])];
    if (rank_a != rank_b) return rank_a < rank_b ? -1 : 1;
    // Only the case differs: that decides if nothing else does. Small letters come first.
    if (by_case == 0) by_case = a[i] == lower(a[i]) ? -1 : 1;
  }
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return by_case;
}

}  // namespace belljar::packages
