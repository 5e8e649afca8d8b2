#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "drivers/docker/image_reference.h"

namespace belljar::docker {

// Who the operator is for one registry. It goes to the engine and nowhere else: not into a log, an
// error, progress or a file.
struct RegistryLogin {
  std::string registry;  // "ghcr.io"
  std::string user;
  std::string password;
  std::string identity_token;  // takes the password's place; "" if there is none
};

// The logins of a Docker client's configuration (~/.docker/config.json, or Podman's auth.json):
// what `docker login` writes into `auths`. A value.
//
// Those that a credential helper keeps (credsStore, credHelpers) are known by name only, because
// belljar executes nothing.
class RegistryCredentials {
 public:
  // `file` is for errors: Error{invalid}, which never repeats what is secret.
  static RegistryCredentials parse(std::string_view text, const std::string& file);

  // The login for the registry of this image, and of nothing else; nullptr if there is none.
  // Error{unavailable} if it is with a credential helper.
  const RegistryLogin* login_for(const ImageReference& image) const;

 private:
  struct Entry {
    RegistryLogin login;
    std::string helper;  // the program that has the login; "": here it is
  };
  void add_logins(const json::object& auths, const std::string& file);
  void add_helpers(const json::object& configuration, const std::string& file);

  // By "ghcr.io", or by "ghcr.io/acme" for images beneath that path only.
  std::map<std::string, Entry> entries_;
};

// Reads the file with the rights that belljar has now; nullptr for "". Error{invalid} names it.
std::shared_ptr<const RegistryCredentials> read_registry_credentials(const std::string& file);

// The login as engines take it in the header X-Registry-Auth.
std::string registry_auth(const RegistryLogin& login);

// Whether somebody repeats what is secret of this login, as it is or as HTTP encodes it.
bool repeats_secret(std::string_view words, const RegistryLogin& login);

}  // namespace belljar::docker
