#include "packages/npm_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

namespace belljar::packages {
namespace {

using Member = const json::key_value_pair*;

// json-stringify-nice as npm calls it.
constexpr std::string_view kFavourites[] = {"name",     "version",     "lockfileVersion",
                                            "resolved", "integrity",   "requires",
                                            "packages", "dependencies"};

// What localeCompare(…, "en") makes of ASCII: the order of ICU's root collation.
constexpr std::string_view kOrder =
    " _-,;:!?.'\"()[]{}@*/"
    "\\&#%`^+<=>|~$0123456789aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ";

constexpr std::array<uint8_t, 256> make_ranks() {
  std::array<uint8_t, 256> ranks{};
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i] = i < 128 ? 0 : static_cast<uint8_t>(i);
  for (size_t i = 0; i < kOrder.size(); ++i)
    ranks[static_cast<unsigned char>(kOrder[i])] = static_cast<uint8_t>(i + 1);
  return ranks;
}
constexpr std::array<uint8_t, 256> kRanks = make_ranks();

uint8_t rank_of(char c) {
  return kRanks[static_cast<unsigned char>(c)];
}
// Lower and upper case of a letter differ only if nothing else does.
uint8_t letter_of(char c) {
  return rank_of(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
}

// JavaScript puts keys that are numbers of an array before all others.
std::optional<uint32_t> array_index(std::string_view key) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  const bool is_number = error == std::errc{} && end == key.data() + key.size();
  const bool is_canonical = key.size() == 1 || !key.starts_with('0');
  if (!is_number || !is_canonical || number == UINT32_MAX) return std::nullopt;
  return number;
}

size_t favour_of(std::string_view key) {
  return static_cast<size_t>(std::find(std::begin(kFavourites), std::end(kFavourites), key) -
                             std::begin(kFavourites));
}

bool comes_before(Member a, Member b) {
  const auto index_a = array_index(a->key());
  const auto index_b = array_index(b->key());
  if (index_a || index_b) return index_a && (!index_b || *index_a < *index_b);
  if (a->value().is_object() != b->value().is_object()) return b->value().is_object();
  const size_t favour_a = favour_of(a->key());
  const size_t favour_b = favour_of(b->key());
  return favour_a != favour_b ? favour_a < favour_b : npm_less(a->key(), b->key());
}

class Writer {
 public:
  void value(const json::value& value, size_t depth) {
    switch (value.kind()) {
      case json::kind::object: object(value.get_object(), depth); break;
      case json::kind::array: array(value.get_array(), depth); break;
      case json::kind::string: string(value.get_string()); break;
      case json::kind::double_: number(value.get_double()); break;
      default: text_ += json::serialize(value); break;
    }
  }

  std::string take() { return std::move(text_) + "\n"; }

 private:
  void line(size_t depth) { text_.append("\n").append(2 * depth, ' '); }

  void object(const json::object& from, size_t depth) {
    std::vector<Member> members;
    members.reserve(from.size());
    for (const auto& member : from) members.push_back(&member);
    std::sort(members.begin(), members.end(), comes_before);
    text_ += '{';
    for (const Member member : members) {
      if (member != members.front()) text_ += ',';
      line(depth + 1);
      string(member->key());
      text_ += ": ";
      value(member->value(), depth + 1);
    }
    if (!members.empty()) line(depth);
    text_ += '}';
  }

  void array(const json::array& from, size_t depth) {
    text_ += '[';
    for (const json::value& element : from) {
      if (&element != &from.front()) text_ += ',';
      line(depth + 1);
      value(element, depth + 1);
    }
    if (!from.empty()) line(depth);
    text_ += ']';
  }

  void string(std::string_view from) {
    constexpr std::string_view kShort = "\bb\tt\nn\ff\rr\"\"\\\\";
    text_ += '"';
    for (const char c : from) {
      const bool escaped = static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
      if (!escaped) {
        text_ += c;
        continue;
      }
      size_t at = 0;
      while (at < kShort.size() && kShort[at] != c) at += 2;
      text_ += at < kShort.size() ? fmt::format("\\{}", kShort[at + 1])
                                  : fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    }
    text_ += '"';
  }

  void number(double from) {
    constexpr double kExact = 9007199254740992;
    const bool is_whole = std::trunc(from) == from && std::abs(from) < kExact;
    text_ += is_whole ? fmt::format("{}", static_cast<int64_t>(from)) : fmt::format("{}", from);
  }

  std::string text_;
};

}  // namespace

bool npm_less(std::string_view a, std::string_view b) {
  const size_t both = std::min(a.size(), b.size());
  for (size_t i = 0; i < both; ++i)
    if (letter_of(a[i]) != letter_of(b[i])) return letter_of(a[i]) < letter_of(b[i]);
  if (a.size() != b.size()) return a.size() < b.size();
  for (size_t i = 0; i < both; ++i)
    if (a[i] != b[i]) return rank_of(a[i]) < rank_of(b[i]);
  return false;
}

std::string npm_json(const json::value& value) {
  Writer writer;
  writer.value(value, 0);
  return writer.take();
}

}  // namespace belljar::packages
