#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/task.h"
#include "net/connection_pool.h"
#include "packages/npm_install.h"
#include "packages/package_document.h"

namespace belljar::packages {

struct NpmConfig;

using DownloadProgress = std::function<void(uint64_t bytes, uint64_t total)>;  // total 0: unknown

// What a registry answered, whatever its status.
struct RegistryAnswer {
  int status = 0;
  std::string host;  // that was asked, with its port if that is unusual
  std::string body;
};

// full: with the times of publication and much else that installing does not need.
enum class DocumentDetail { abbreviated, full };

// A client of the npm registry that the operator's npm uses. The configuration and the certificates
// are read on first use, so making one costs nothing and never fails. Belongs to the loop.
//
// Errors: not_found (no such package), denied (credentials missing or refused, wrong integrity),
// unavailable (network, registry), invalid (a name or the configuration is wrong).
class Registry {
 public:
  explicit Registry(Surroundings host);
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Reads npm's configuration and the certificates that it names now, for a process that will not
  // be allowed to later. What is wrong with it is still told on first use. Blocks.
  void read_configuration();

  Task<PackageDocument> document(std::string package);

  // GET of a path of the registry that serves `package` ("": that of packages without a scope),
  // with the credentials for it. Only what kept us from getting an answer, or one larger than
  // `limit`, throws.
  Task<RegistryAnswer> ask(std::string package, std::string path, std::string accept,
                           uint64_t limit, net::ConnectionPool* connections = nullptr);

  // True if both packages come from the same registry, so that asking for one at the place of the
  // other tells nobody anything new.
  Task<bool> same_registry(std::string package, std::string other);

  // The document as the registry sent it. Tried twice if the connection breaks.
  Task<std::string> raw_document(std::string package, DocumentDetail detail,
                                 net::ConnectionPool* connections);

  // The registry that serves this package, as a URL.
  Task<std::string> address_of(std::string package);

  // Which packages come from which registries, as a text to compare with. Quick: the certificates
  // are not looked at.
  const std::string& fingerprint();

  // The tarball, complete and checked against its integrity, as a file without a name in
  // `directory`: nobody can change it between check and use, and nothing is left behind. Tried
  // twice if the connection breaks. What `progress` throws ends it.
  Task<Fd> download(PackageVersion version, std::string directory, DownloadProgress progress,
                    net::ConnectionPool* connections = nullptr);

  const Surroundings& host() const { return host_; }

  // Where nearly every registry has the tarball of a version. Saves asking for the document, which
  // may have megabytes, where the integrity is known.
  Task<std::string> usual_tarball(std::string package, std::string version);

  // The path of a package at its registry: "@scope%2fname".
  static std::string path_of(const std::string& package);

 private:
  struct Client;
  Task<Client*> client();
  Task<std::string> fetch_document(std::string package, DocumentDetail detail,
                                   net::ConnectionPool* connections);
  Task<Fd> download_once(const PackageVersion& version, std::string directory,
                         const DownloadProgress& progress, net::ConnectionPool* connections);

  Surroundings host_;
  std::function<NpmConfig()> configuration_;
  std::unique_ptr<Client> client_;
  std::string fingerprint_;
};

}  // namespace belljar::packages
