#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "packages/semver.h"

namespace belljar::packages {

// What a registry knows about a package. Documents have up to thousands of versions and tens of
// megabytes, of which a resolver wants one version: so this keeps the text, knows where each
// version stands in it, and leaves reading it to make_manifest(). Immutable.
class Document {
 public:
  struct Release {
    Version version;
    std::string_view text;  // its member of `versions`, as JSON
  };
  using Time = std::chrono::system_clock::time_point;

  // Error{unavailable} if the text is no package document. Takes a millisecond per megabyte or two:
  // call it by run_blocking().
  static std::shared_ptr<const Document> parse(std::string name, std::string body);

  const std::string& name() const { return name_; }
  size_t size() const { return body_.size(); }
  const std::vector<Release>& releases() const { return releases_; }  // ascending
  const Release* find(const Version& version) const;
  const Release* tagged(std::string_view tag) const;  // nullptr: no such tag, or it leads nowhere
  bool has_tag(std::string_view tag) const { return tags_.find(tag) != tags_.end(); }

  // When it was published, if this is a full document.
  std::optional<Time> published(const Version& version) const;
  bool has_times() const { return !times_.empty(); }

  // Why only npm can tell what a range means here, or "": versions that only it can read.
  const std::string& strange() const { return strange_; }
  // The same, for ranges that name pre-releases.
  bool has_loose_prereleases() const { return has_loose_prereleases_; }

  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

 private:
  Document(std::string name, std::string body) : name_{std::move(name)}, body_{std::move(body)} {}
  void read();
  void read_versions(std::string_view text);
  void read_tags(std::string_view text);
  void read_times(std::string_view text);

  std::string name_;
  std::string body_;
  std::vector<Release> releases_;
  std::map<std::string, std::string, std::less<>> tags_;
  std::map<std::string, Time, std::less<>> times_;
  std::string strange_;
  bool has_loose_prereleases_ = false;
};

// "2024-05-01T12:00:00.000Z", as registries write it.
std::optional<Document::Time> parse_time(std::string_view text);

}  // namespace belljar::packages
