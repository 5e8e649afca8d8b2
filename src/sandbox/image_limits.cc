#include "sandbox/image_limits.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <charconv>

#include "base/bytes.h"
#include "base/error.h"

namespace belljar {

namespace {

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(separator, start), text.size());
    words.push_back(trim(text.substr(start, end - start)));
    start = end + 1;
  }
  return words;
}

uint64_t read_size(std::string_view text, uint64_t lowest) {
  const auto value = parse_bytes(text);
  if (value && *value >= lowest) return *value;
  fail(Code::invalid, "is \"{}\", not a size such as 512m, 1g or a number of bytes, at least {}",
       text, format_bytes(lowest));
}

template <class Number>
Number read_number(std::string_view text, Number lowest, Number highest) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (whole && value >= lowest && value <= highest) return value;
  fail(Code::invalid, "is \"{}\", not a number from {} to {}", text, lowest, highest);
}

// Takes one limit; refuses a second of the same name.
template <class Value>
void put(std::optional<Value>& place, Value value) {
  if (place) fail(Code::invalid, "is given twice");
  place = value;
}

void read_limit(std::string_view name, std::string_view value, SomeLimits& limits) {
  if (name == "memory") return put(limits.memory, read_size(value, kLowestLimits.memory));
  if (name == "disk") return put(limits.disk, read_size(value, kLowestLimits.disk));
  if (name == "cpus") {
    return put(limits.cpus, read_number(value, kLowestLimits.cpus, kHighestLimits.cpus));
  }
  if (name == "pids") {
    return put(limits.pids, read_number(value, kLowestLimits.pids, kHighestLimits.pids));
  }
  fail(Code::invalid, "is no limit; those there are: memory, cpus, pids, disk");
}

SomeLimits read_limits(std::string_view text) {
  SomeLimits limits;
  for (const std::string_view word : split(text, ',')) {
    const size_t colon = word.find(':');
    if (colon == std::string_view::npos) {
      fail(Code::invalid, "\"{}\" is not of the form NAME:VALUE, such as memory:256m", word);
    }
    const std::string_view name = trim(word.substr(0, colon));
    try {
      read_limit(name, trim(word.substr(colon + 1)), limits);
    } catch (const Error& e) {
      fail(Code::invalid, "\"{}\" {}", name, e.what());
    }
  }
  return limits;
}

// Only what names of images have, and *: brackets and question marks would mean something, too.
bool is_pattern(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/@*";
  return !text.empty() && text.find_first_not_of(kAllowed) == std::string_view::npos;
}

ImageLimits::Rule read_rule(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view pattern = trim(text.substr(0, equals));
  if (!is_pattern(pattern)) {
    fail(Code::invalid, "\"{}\" is not the name of an image, with * for anything", pattern);
  }
  if (equals == std::string_view::npos) {
    fail(Code::invalid, "\"{}\" lacks its limits: write {}=memory:256m", pattern, pattern);
  }
  return {std::string{pattern}, read_limits(text.substr(equals + 1))};
}

// Short, and exactly what it was.
std::string written(uint64_t bytes) {
  for (const auto& [shift, unit] : {std::pair{30, "g"}, std::pair{20, "m"}, std::pair{10, "k"}}) {
    const uint64_t count = bytes >> shift;
    if (count > 0 && count << shift == bytes) return fmt::format("{}{}", count, unit);
  }
  return std::to_string(bytes);
}

}  // namespace

Limits SomeLimits::over(Limits usual) const {
  usual.memory = memory.value_or(usual.memory);
  usual.cpus = cpus.value_or(usual.cpus);
  usual.pids = pids.value_or(usual.pids);
  usual.disk = disk.value_or(usual.disk);
  return usual;
}

std::string SomeLimits::text() const {
  std::vector<std::string> words;
  if (memory) words.push_back("memory:" + written(*memory));
  if (cpus) words.push_back(fmt::format("cpus:{}", *cpus));
  if (pids) words.push_back(fmt::format("pids:{}", *pids));
  if (disk) words.push_back("disk:" + written(*disk));
  return fmt::format("{}", fmt::join(words, ","));
}

ImageLimits ImageLimits::parse(std::string_view text) {
  ImageLimits limits;
  for (const std::string_view entry : split(text, ';')) {
    try {
      limits.rules_.push_back(read_rule(entry));
    } catch (const Error& e) {
      fail(Code::invalid, "entry {}: {}", limits.rules_.size() + 1, e.what());
    }
  }
  return limits;
}

Limits ImageLimits::of(const std::string& image, Limits usual) const {
  for (const Rule& rule : rules_) {
    if (::fnmatch(rule.pattern.c_str(), image.c_str(), 0) == 0) return rule.limits.over(usual);
  }
  return usual;
}

std::string ImageLimits::text() const {
  std::string text;
  for (const Rule& rule : rules_) {
    text += (text.empty() ? "" : "; ") + rule.pattern + "=" + rule.limits.text();
  }
  return text;
}

}  // namespace belljar
