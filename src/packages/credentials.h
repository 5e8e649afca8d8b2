#pragma once

#include <map>
#include <string>
#include <string_view>

#include "net/url.h"

namespace belljar::packages {

// The secrets of npm's configuration, each bound to the part of a registry it is for
// (`//host/path/:_authToken`). They leave this class only as the value of a header for a matching
// address; nothing prints them.
class Credentials {
 public:
  // A key of the configuration with its value. False if it is not about credentials.
  bool add(std::string_view key, std::string_view value);

  // "Bearer …" or "Basic …" from the entry with the longest matching path, or "".
  std::string authorization_for(const net::Url& url) const;

 private:
  struct Entry {
    std::string token;
    std::string basic;  // base64 of user:password, as npm writes it
    std::string user;
    std::string password;  // base64
  };
  static std::string header(const Entry& entry);

  std::map<std::string, Entry, std::less<>> by_place_;  // "//host:port/path" without a final slash
};

}  // namespace belljar::packages
