#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "app/config.h"
#include "app/server_sockets.h"
#include "drivers/docker/engine_http.h"
#include "drivers/docker/registry_credentials.h"
#include "drivers/linux/launcher_process.h"
#include "network/secrets.h"
#include "packages/registry.h"
#include "tools/files_directory.h"

namespace belljar::app {

// All that needs the rights with which belljar was started: the launcher, the operator's
// directories, secrets, npm's configuration, logins to registries, the socket of `belljar list`.
struct Foundation {
  linux_driver::LauncherProcess launcher;
  std::unique_ptr<docker::EngineHttp> engine;  // null: this host's kernel makes all sandboxes
  std::string agent;                           // the path of belljar's program in containers
  uid_t own_user = 0;                          // who belljar is, as the engine numbers it
  gid_t own_group = 0;
  Fd data;                // keeps `data_dir` valid
  std::string data_dir;   // where runtimes are kept, as a path that works without those rights
  std::string data_path;  // the same, as others find it
  std::unique_ptr<tools::FilesDirectory> files;  // null: none is configured
  std::map<std::string, std::unique_ptr<tools::FilesDirectory>> files_of_owners;  // by name
  std::unique_ptr<packages::Registry> registry;
  std::unique_ptr<network::Secrets> secrets;                                // null: there are none
  std::shared_ptr<const docker::RegistryCredentials> registry_credentials;  // null: there are none
  std::unique_ptr<OwnSocket> socket;  // null: not asked for, or it could not be made
  bool was_root = false;
};

enum class LocalSocket { yes, no };

// What a command needs beside that.
struct FoundationWishes {
  LocalSocket socket = LocalSocket::no;
  std::map<std::string, std::string> files_of_owners;  // directories by the names of owners
  std::function<void()> with_rights;  // done while there still are all rights; may be null
};

// Lays it, and gives the rights up: from then on belljar is an ordinary process that can read what
// its sandboxes write, and asks the launcher for everything else. To be called first, while there
// is one thread. Error{unavailable} if this host cannot make sandboxes.
Foundation lay_foundation(const Config& config, const FoundationWishes& wishes);
inline Foundation lay_foundation(const Config& config, LocalSocket socket) {
  return lay_foundation(config, FoundationWishes{socket, {}, nullptr});
}

// The same for a look at the host: nothing is given up, and the launcher answers for what it can.
Foundation lay_bare_foundation(const Config& config);

}  // namespace belljar::app
