#pragma once

#include <string>

#include "base/clock.h"
#include "packages/registry.h"

namespace belljar::packages {

// What registries say about packages, kept on the disk for a while: a set of dependencies that is
// new but for one package then asks for one. Belongs to the loop; several processes may share the
// directory.
class KeptDocuments {
 public:
  // Those are removed that nobody fetched again for so long, at the earliest.
  static constexpr std::chrono::hours kForget{24 * 14};

  struct Rules {
    std::chrono::seconds max_age{86'400};  // older ones are fetched again
    bool offline = false;                  // however old, and never fetched
  };

  // The registry and the clock must outlive it. The directory is made when there is something to
  // keep.
  KeptDocuments(Registry& registry, const Clock& clock, std::string directory, Rules rules);

  // The document of a package, as its registry sent it. Errors are those of
  // Registry::raw_document(); offline also unavailable, with the name of what is missing.
  Task<std::string> get(std::string package, DocumentDetail detail,
                        net::ConnectionPool* connections);

  // Removes what is forgotten. Blocks.
  static void prune(const std::string& directory, Clock::WallTime now);

 private:
  Task<std::string> path_of(const std::string& package, DocumentDetail detail);
  std::optional<std::string> read_kept(const std::string& path) const;

  Registry& registry_;
  const Clock& clock_;
  std::string directory_;
  Rules rules_;
};

}  // namespace belljar::packages
