#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "packages/picks.h"
#include "packages/resolver.h"

namespace belljar::packages {

// Fetches the documents that a tree will need and picks a version for every dependency, before the
// tree is built: level by level, each level at once, so that it takes as many round trips as
// dependencies are deep. It may fetch a few that turn out to be superfluous; failing to get those
// harms nobody, so what fails is only noted.
class Crawl {
 public:
  Crawl(DocumentSource documents, PickOptions options, Picks& picks);

  Task<> follow(std::vector<DependencyEdge> edges);

 private:
  struct Wanted {
    PackageSpec spec;
    bool with_dependencies;
  };
  struct Known {
    std::shared_ptr<const Document> document;
    std::string problem;
    Code code = Code::not_found;
  };
  // The edges of the next level.
  Task<std::vector<Wanted>> follow_level(std::vector<Wanted> level);
  Task<> fetch(std::vector<std::string> names);
  Task<> fetch_one(const std::string& name);
  Task<> pick_all(std::vector<PackageSpec> specs);
  Picks::Pick judge(const PackageSpec& spec, Picked picked) const;
  std::string no_version_message(const Document& document, const PackageSpec& spec) const;

  DocumentSource source_;
  PickOptions options_;
  Picks& picks_;
  std::map<std::string, Known, std::less<>> known_;
  size_t bytes_ = 0;       // of all documents
  size_t bytes_read_ = 0;  // of versions that were looked at
};

}  // namespace belljar::packages
