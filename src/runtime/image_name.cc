#include "runtime/image_name.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/utf8.h"

namespace belljar::runtime {
namespace {

constexpr std::string_view kExamples = "node:lts-slim, node:lts, node:26, node:24-slim, node:22.12";

struct Codename {
  std::string_view name;
  std::string_view major;
};
constexpr Codename kCodenames[] = {
    {"iron", "20"}, {"jod", "22"}, {"krypton", "24"}, {"lithium", "26"}};

constexpr std::string_view kSystems[] = {"slim", "bookworm", "bullseye", "trixie"};

bool is_system(std::string_view word) {
  return std::find(std::begin(kSystems), std::end(kSystems), word) != std::end(kSystems);
}

// "24-bookworm-slim" → "24", "slim" → "".
std::string_view without_system(std::string_view tag) {
  while (true) {
    const size_t dash = tag.rfind('-');
    const size_t start = dash == std::string_view::npos ? 0 : dash + 1;
    if (!is_system(tag.substr(start))) return tag;
    tag = tag.substr(0, dash == std::string_view::npos ? 0 : dash);
  }
}

// "24", "24.1" or "24.1.0", nothing but digits and dots.
bool is_plain_version(std::string_view text) {
  const auto digit_or_dot = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  return !text.empty() && text.size() <= 20 &&
         std::all_of(text.begin(), text.end(), digit_or_dot) && text.front() != '.' &&
         text.back() != '.' && text.find("..") == std::string_view::npos &&
         std::count(text.begin(), text.end(), '.') <= 2;
}

}  // namespace

std::string quote_briefly(std::string_view text) {
  constexpr size_t kShown = 80;
  const bool cut = text.size() > kShown;
  std::string result = to_utf8(text.substr(0, cut ? utf8_prefix(text, kShown - 3) : text.size()));
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return "\"" + result + (cut ? "...\"" : "\"");
}

ImageName parse_image_name(std::string_view text) {
  const auto refuse = [&text](const std::string& why) {
    fail(Code::invalid, "image {} {}. Examples: {}", quote_briefly(text), why, kExamples);
  };
  ImageName name;
  name.text = std::string{text};
  if (text != "node" && !text.starts_with("node:"))
    refuse("is not known: only the official Node.js images are supported");
  std::string_view tag = text == "node" ? "" : text.substr(5);
  if (text != "node" && tag.empty()) refuse("has an empty tag");
  if (text.size() > 80) refuse("is too long");
  if (tag.find("alpine") != std::string_view::npos)
    refuse("is not supported: Alpine's C library (musl) cannot run the official builds; use -slim");
  if (tag.starts_with('-')) refuse("is not known");
  tag = without_system(tag);
  for (const Codename& codename : kCodenames)
    if (tag == codename.name) tag = codename.major;
  if (tag.empty() || tag == "lts") return name;
  if (tag == "latest" || tag == "current") {
    name.kind = ImageName::Kind::newest;
    return name;
  }
  auto range = is_plain_version(tag) ? packages::Range::parse(tag) : std::nullopt;
  if (!range) refuse("is not known");
  name.kind = ImageName::Kind::version;
  name.version = std::string{tag};
  name.range = std::move(*range);
  if (std::stoull(name.version) < kOldestMajor)
    refuse("is too old: Node.js 20 and newer are supported");
  return name;
}

bool ImageName::means(const packages::Version& other, Date today) const {
  switch (kind) {
    case Kind::lts: return other.major == newest_lts_major(today);
    case Kind::newest: return other.major >= newest_major(today);
    case Kind::version: return range.accepts(other);
  }
  return false;
}

bool ImageName::accepts(const packages::Version& other, Date today) const {
  if (other.is_prerelease() || other.major < kOldestMajor) return false;
  switch (kind) {
    case Kind::lts: return is_lts(other.major, today);
    case Kind::newest: return true;
    case Kind::version: return range.accepts(other);
  }
  return false;
}

}  // namespace belljar::runtime
