#pragma once

#include <sys/stat.h>

#include <boost/asio/ip/udp.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::network {

using NameServerList = std::vector<boost::asio::ip::udp::endpoint>;

// The servers that a text like that of /etc/resolv.conf names, at most three, as libc takes them;
// without any, the one on this host.
NameServerList parse_name_servers(std::string_view text);

// The name servers of the host, as its configuration says at the moment.
class NameServers {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit NameServers(std::string path) : path_{std::move(path)} {}
  explicit NameServers(NameServerList fixed) : servers_{std::move(fixed)} {}

  // The file is looked at again when a second has passed, and read again when it is another one or
  // has changed. One that cannot be read is like one without servers.
  const NameServerList& at(Time now);

 private:
  void read_if_changed();

  std::string path_;  // "" if the list is fixed
  std::optional<Time> looked_;
  struct ::stat seen_ = {};
  NameServerList servers_;
};

}  // namespace belljar::network
