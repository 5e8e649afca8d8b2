#include <algorithm>
#include <charconv>

#include "packages/semver.h"

namespace belljar::packages {

// "1", "1.2", "1.x", "*", "1.2.3-rc.1": a version of which the tail may be missing.
struct Range::Partial {
  int given = 0;  // how many of major, minor and patch are numbers
  Version version;
};

namespace {

constexpr size_t kLongest = 512;

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

bool is_wildcard(std::string_view text) {
  return text == "x" || text == "X" || text == "*";
}

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (value > (1ull << 53) - 1) return std::nullopt;
  return value;
}

// The first version after everything that begins with `given` numbers of `version`. "-0" is the
// lowest pre-release: "<2.0.0-0" keeps 2.0.0-beta out.
Version next(const Version& version, int given) {
  Version result;
  result.prerelease = {"0"};
  result.major = given == 1 ? version.major + 1 : version.major;
  if (given >= 2) result.minor = given == 2 ? version.minor + 1 : version.minor;
  if (given == 3) result.patch = version.patch + 1;
  return result;
}

}  // namespace

std::optional<Range::Partial> Range::parse_partial(std::string_view text) {
  if (!text.empty() && text.front() == 'v') text.remove_prefix(1);
  Partial partial;
  if (text.empty()) return std::nullopt;  // an operator alone
  if (is_wildcard(text)) return partial;
  if (const auto full = parse_version(text)) {
    partial.given = 3;
    partial.version = *full;
    return partial;
  }
  uint64_t* const numbers[] = {&partial.version.major, &partial.version.minor,
                               &partial.version.patch};
  bool wildcard = false;
  for (int i = 0; i < 3; ++i) {
    const size_t dot = std::min(text.find('.'), text.size());
    const std::string_view part = text.substr(0, dot);
    if (is_wildcard(part)) {
      wildcard = true;  // whatever follows says nothing any more: 1.x.3 is 1.x
    } else {
      const auto number = whole_number(part);
      if (!number) return std::nullopt;
      if (!wildcard) {
        *numbers[i] = *number;
        partial.given = i + 1;
      }
    }
    if (dot == text.size()) return partial;
    text.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

bool Range::add_hyphen(All& all, std::string_view from, std::string_view to) {
  const auto low = parse_partial(from);
  const auto high = parse_partial(to);
  if (!low || !high) return false;
  if (low->given > 0) all.push_back({Operator::greater_or_equal, low->version});
  if (high->given == 3) all.push_back({Operator::less_or_equal, high->version});
  if (high->given == 1 || high->given == 2)
    all.push_back({Operator::less, next(high->version, high->given)});
  return true;
}

bool Range::add_simple(All& all, std::string_view text) {
  const size_t start = std::min(text.find_first_not_of("<>=^~"), text.size());
  std::string_view op = text.substr(0, start);
  if (op == "~>") op = "~";
  const auto partial = parse_partial(text.substr(start));
  if (!partial) return false;
  const auto& [given, version] = *partial;
  const auto between = [&all, &version](const Version& end) {
    all.push_back({Operator::greater_or_equal, version});
    all.push_back({Operator::less, end});
  };
  if (given == 0) {
    // "<*" accepts nothing; everything else without a number accepts all.
    if (op == "<" || op == ">") all.push_back({Operator::less, next(Version{}, 0)});
  } else if (op == "^") {
    const int fixed = version.major > 0 || given == 1 ? 1 : version.minor > 0 || given == 2 ? 2 : 3;
    between(next(version, fixed));
  } else if (op == "~") {
    between(next(version, std::min(given, 2)));
  } else if (op == "" || op == "=") {
    if (given == 3)
      all.push_back({Operator::equal, version});
    else
      between(next(version, given));
  } else if (op == ">=") {
    all.push_back({Operator::greater_or_equal, version});
  } else if (op == ">") {
    if (given == 3)
      all.push_back({Operator::greater, version});
    else {
      Version end = next(version, given);
      end.prerelease.clear();
      all.push_back({Operator::greater_or_equal, end});
    }
  } else if (op == "<") {
    Version end = version;
    if (given < 3) end.prerelease = {"0"};
    all.push_back({Operator::less, end});
  } else if (op == "<=") {
    if (given == 3)
      all.push_back({Operator::less_or_equal, version});
    else
      all.push_back({Operator::less, next(version, given)});
  } else {
    return false;
  }
  return true;
}

std::optional<Range::All> Range::parse_all(std::string_view text) {
  All all;
  text = trim(text);
  if (const size_t hyphen = text.find(" - "); hyphen != std::string_view::npos) {
    if (!add_hyphen(all, trim(text.substr(0, hyphen)), trim(text.substr(hyphen + 3))))
      return std::nullopt;
    return all;
  }
  while (!text.empty()) {
    // "> 1.2" is one word: spaces after an operator do not separate.
    size_t end = std::min(text.find_first_not_of("<>=^~"), text.size());
    if (end > 0) end = std::min(text.find_first_not_of(" \t", end), text.size());
    end = std::min(text.find_first_of(" \t", end), text.size());
    std::string word;
    for (const char c : text.substr(0, end))
      if (c != ' ' && c != '\t') word += c;
    if (!add_simple(all, word)) return std::nullopt;
    text = trim(text.substr(end));
  }
  return all;
}

std::optional<Range> Range::parse(std::string_view text) {
  if (text.size() > kLongest) return std::nullopt;
  Range range;
  while (true) {
    const size_t bar = text.find("||");
    auto all = parse_all(text.substr(0, bar));
    if (!all) return std::nullopt;
    range.any_.push_back(std::move(*all));
    if (bar == std::string_view::npos) return range;
    text.remove_prefix(bar + 2);
  }
}

bool Range::accepts(const Version& version) const {
  const auto holds = [&version](const Comparator& comparator) {
    const auto order = version <=> comparator.version;
    switch (comparator.op) {
      case Operator::less: return order < 0;
      case Operator::less_or_equal: return order <= 0;
      case Operator::greater: return order > 0;
      case Operator::greater_or_equal: return order >= 0;
      case Operator::equal: return order == 0;
    }
    return false;
  };
  const auto names_it = [&version](const Comparator& comparator) {
    return comparator.version.is_prerelease() && comparator.version.same_triple(version);
  };
  return std::any_of(any_.begin(), any_.end(), [&](const All& all) {
    return std::all_of(all.begin(), all.end(), holds) &&
           (!version.is_prerelease() || std::any_of(all.begin(), all.end(), names_it));
  });
}

}  // namespace belljar::packages
