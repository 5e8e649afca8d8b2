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

using DownloadProgress = std::function<void(uint64_t bytes, uint64_t total)>;  // total 0: unknown

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

  Task<PackageDocument> document(std::string package);

  // The document as the registry sent it. Tried twice if the connection breaks.
  Task<std::string> raw_document(std::string package, net::ConnectionPool* connections);

  // The tarball, complete and checked against its integrity, as a file without a name in
  // `directory`: nobody can change it between check and use, and nothing is left behind. Tried
  // twice if the connection breaks. What `progress` throws ends it.
  Task<Fd> download(PackageVersion version, std::string directory, DownloadProgress progress,
                    net::ConnectionPool* connections = nullptr);

  const Surroundings& host() const { return host_; }

 private:
  struct Client;
  Task<Client*> client();
  Task<std::string> fetch_document(const std::string& package, net::ConnectionPool* connections);
  Task<Fd> download_once(const PackageVersion& version, std::string directory,
                         const DownloadProgress& progress, net::ConnectionPool* connections);

  Surroundings host_;
  std::unique_ptr<Client> client_;
};

}  // namespace belljar::packages
