#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "net/http_server.h"
#include "packages/registry.h"

namespace belljar::packages {

struct ProxyLimits {
  uint64_t tarball = 256u << 20;  // bytes of one
  uint64_t total = 1u << 30;      // bytes of everything that is fetched
  size_t requests = 20'000;
};

// The registry as a npm in a sealed sandbox sees it: on a socket inside that sandbox, read-only,
// without credentials and without a word about where packages truly come from. It knows package
// documents (`/name`), whose tarball addresses it replaces by its own, and the tarballs of the
// versions in documents that it gave out (`/-/tarball/name/version.tgz`), checked against their
// integrity. Everything else is 404. For one install; belongs to the loop.
class RegistryProxy {
 public:
  // Told after every tarball. May be empty.
  using Progress = std::function<void(const RegistryProxy&)>;

  // Tarballs pass through files without names in `directory`.
  RegistryProxy(Registry& registry, Fd listener, std::string directory, ProxyLimits limits,
                Progress on_progress);
  RegistryProxy(const RegistryProxy&) = delete;
  RegistryProxy& operator=(const RegistryProxy&) = delete;

  // What npm is given as --registry.
  const std::string& url() const { return url_; }

  // Serves until it is cancelled (see net::serve_http). To be called once. The documents of
  // `expected` packages are fetched at once: while npm still starts.
  Task<> serve(std::vector<std::string> expected);

  size_t packages() const { return packages_; }  // tarballs given out
  uint64_t bytes() const { return bytes_; }      // fetched so far

  // The last thing that could not be had from the registry, and why.
  struct Trouble {
    Code code = Code::internal;
    std::string package;
    std::string reason;
  };
  const std::optional<Trouble>& trouble() const { return trouble_; }

  // A package that was asked for and not answered when the service ended, or "".
  std::string waiting_for() const;

  // A document that was given out; nullptr if it was not.
  const PackageDocument* document(std::string_view package) const;

 private:
  struct Asked {
    std::string package;
    std::string version;  // "" for the document
  };
  static std::optional<Asked> parse_target(std::string_view target);

  Task<net::HttpAnswer> answer(net::HttpServerRequest request);
  Task<> fetch_ahead(std::vector<std::string> packages);
  Task<std::string> fetch_document(std::string package);
  Task<net::HttpAnswer> give_document(std::string package);
  Task<net::HttpAnswer> give_tarball(std::string package, std::string version);
  void count(uint64_t bytes);

  Registry& registry_;
  Fd listener_;
  std::string url_;
  std::string directory_;
  ProxyLimits limits_;
  Progress on_progress_;
  net::ConnectionPool connections_;
  std::map<std::string, PackageDocument, std::less<>> documents_;
  std::map<std::string, std::string> ahead_;  // documents that nobody has asked for yet
  std::multiset<std::string> waiting_;        // packages whose answer is under way
  size_t requests_ = 0;
  size_t packages_ = 0;
  uint64_t bytes_ = 0;
  std::optional<Trouble> trouble_;
};

}  // namespace belljar::packages
