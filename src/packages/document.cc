#include "packages/document.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/json.h"
#include "packages/json_scan.h"

namespace belljar::packages {
namespace {

// "1.0.0rc1", which npm reads as 1.0.0-rc1.
bool is_loose_prerelease(std::string_view text) {
  size_t at = 0;
  for (int dots = 0; dots < 3; ++dots) {
    const size_t start = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    if (at == start || (at > start + 1 && text[start] == '0')) return false;
    if (dots == 2) break;
    if (at == text.size() || text[at] != '.') return false;
    ++at;
  }
  return at < text.size() && text[at] != '+' && text[at] != '.';
}

bool take_digits(std::string_view text, size_t at, size_t count, int& value) {
  if (text.size() < at + count) return false;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + count, value);
  return error == std::errc{} && end == text.data() + at + count;
}

}  // namespace

std::optional<Document::Time> parse_time(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!take_digits(text, 0, 4, year) || !take_digits(text, 5, 2, month) ||
      !take_digits(text, 8, 2, day) || !take_digits(text, 11, 2, hour) ||
      !take_digits(text, 14, 2, minute) || !take_digits(text, 17, 2, second))
    return std::nullopt;
  if (text.back() != 'Z' || text[10] != 'T') return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  int milliseconds = 0;
  if (text[19] == '.' && !take_digits(text, 20, 3, milliseconds)) return std::nullopt;
  return std::chrono::sys_days{date} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
         std::chrono::seconds{second} + std::chrono::milliseconds{milliseconds};
}

std::shared_ptr<const Document> Document::parse(std::string name, std::string body) {
  std::shared_ptr<Document> document{new Document{std::move(name), std::move(body)}};
  document->read();
  return document;
}

void Document::read() {
  ObjectScan scan{body_};
  while (const auto member = scan.next()) {
    if (member->key == "versions") read_versions(member->value);
    if (member->key == "dist-tags") read_tags(member->value);
    if (member->key == "time") read_times(member->value);
    if (member->key == "policyRestrictions" || member->key == "stagedVersions")
      strange_ = "its registry restricts which versions may be had";
  }
  if (scan.failed())
    fail(Code::unavailable, "the registry's answer about {} is not a package document", name_);
}

void Document::read_versions(std::string_view text) {
  releases_.clear();
  ObjectScan scan{text};
  while (const auto member = scan.next()) {
    if (auto version = parse_version(member->key); version && member->key == to_string(*version))
      releases_.push_back({std::move(*version), member->value});
    else if (is_loose_prerelease(member->key))
      has_loose_prereleases_ = true;
    else
      strange_ = "it has versions that only npm can read";
  }
  if (scan.failed())
    fail(Code::unavailable, "the registry's answer about {} has no proper versions", name_);
  const auto before = [](const Release& a, const Release& b) { return a.version < b.version; };
  std::sort(releases_.begin(), releases_.end(), before);
  const auto same = [](const Release& a, const Release& b) { return a.version == b.version; };
  if (std::adjacent_find(releases_.begin(), releases_.end(), same) != releases_.end())
    strange_ = "it has a version twice";
}

void Document::read_tags(std::string_view text) {
  boost::system::error_code error;
  const json::value parsed = json::parse(text, error);
  if (const json::object* tags = parsed.if_object())
    for (const auto& [tag, version] : *tags)
      if (version.is_string()) tags_.insert_or_assign(tag, std::string{version.get_string()});
}

void Document::read_times(std::string_view text) {
  ObjectScan scan{text};
  while (const auto member = scan.next())
    if (member->value.size() > 2)
      if (const auto time = parse_time(member->value.substr(1, member->value.size() - 2)))
        times_.insert_or_assign(std::string{member->key}, *time);
}

const Document::Release* Document::find(const Version& version) const {
  const auto at = std::lower_bound(
      releases_.begin(), releases_.end(), version,
      [](const Release& release, const Version& than) { return release.version < than; });
  return at != releases_.end() && at->version == version ? &*at : nullptr;
}

const Document::Release* Document::tagged(std::string_view tag) const {
  const auto at = tags_.find(tag);
  const auto version = at != tags_.end() ? parse_version(at->second) : std::nullopt;
  return version ? find(*version) : nullptr;
}

std::optional<Document::Time> Document::published(const Version& version) const {
  const auto at = times_.find(to_string(version));
  return at != times_.end() ? std::optional{at->second} : std::nullopt;
}

}  // namespace belljar::packages
