#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_client.h"
#include "net/url.h"
#include "packages/credentials.h"
#include "packages/npm_install.h"

namespace belljar::packages {

// What npm would use on this host for this user: the same files, variables and precedence
// (environment, ~/.npmrc, <prefix>/etc/npmrc, npm's own npmrc, npm's built-in defaults). The .npmrc
// of a project is not read: belljar has no project, and one left in some directory must not
// redirect it.
struct NpmConfig {
  std::optional<net::Url> registry;  // path ends with "/"; nothing if neither configured nor found
  std::map<std::string, net::Url, std::less<>> registry_of_scope;  // "@scope" → registry
  Credentials credentials;
  net::HttpSettings http;  // CAs, proxies, strict-ssl

  // Tarball addresses on this host are rewritten to the configured registry ("*": all of them), so
  // that a mirror that repeats the origin's metadata still serves the tarballs itself.
  std::string replaced_host;

  // The registry of a package ("name" or "@scope/name"); Error{unavailable} if there is none.
  const net::Url& registry_for(std::string_view package) const;
};

// Reads it. Error{invalid} names the setting and the file or variable it came from, never a value
// that may hold a secret.
NpmConfig read_npm_config(const Surroundings& host);

}  // namespace belljar::packages
