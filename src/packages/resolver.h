#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/task.h"
#include "packages/dependency.h"
#include "packages/document.h"
#include "packages/lockfile.h"
#include "packages/platform.h"
#include "packages/registry.h"

namespace belljar::packages {

class KeptDocuments;

// Where the resolver gets documents from: a registry, a cache, a test. Called for many names at
// once, for each at most once per resolve(). Error{not_found} if there is no such package.
using DocumentSource =
    std::function<Task<std::shared_ptr<const Document>>(const std::string& name)>;

// One that is kept, or fetched from the registry.
Task<std::shared_ptr<const Document>> get_document(KeptDocuments& kept,
                                                   net::ConnectionPool& connections,
                                                   DocumentDetail detail, std::string name);

struct ResolveRequest {
  std::vector<Dependency> dependencies;  // of a package.json that has them in order, as npm's have
  std::string node_version;              // "22.11.0"
  std::string npm_version = "11.6.0";    // that we stand in for: packages may say which they need
  Platform platform;
  DocumentSource documents;
  // Versions published later are not seen. Needs documents with times.
  std::optional<Document::Time> published_before;
  std::set<std::string, std::less<>> denied;  // names of packages that must not be in the tree
};

struct Resolution {
  std::optional<Lockfile> lockfile;
  std::string not_sure;  // why there is none: only npm itself can tell what it would do
  std::vector<std::string> warnings;  // for people: packages that want another Node.js
};

// The tree that `npm install` makes of these dependencies in an empty directory, found without
// npm: the same packages at the same paths. Whatever npm might decide otherwise is `not_sure`, for
// npm to resolve; it is never a tree that differs.
//
// Errors that npm would end with too: not_found (no such package, no version that fits), denied (on
// the list of `denied`), invalid (a package is not for this platform, or an argument is wrong);
// and unavailable if a document cannot be had.
Task<Resolution> resolve(ResolveRequest request);

}  // namespace belljar::packages
