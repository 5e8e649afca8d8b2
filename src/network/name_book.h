#pragma once

#include <boost/asio/ip/address.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "network/dns_message.h"

namespace belljar::network {

// Which names a sandbox has looked up, by the addresses they led to, for as long as the answers
// hold.
class NameBook {
 public:
  void remember(const std::string& name, const DnsAnswer& answer, Clock::Time now);

  // The last one looked up first.
  std::vector<std::string> names_of(const asio::ip::address& address, Clock::Time now) const;

 private:
  struct Entry {
    std::string name;
    Clock::Time until;
  };
  std::map<asio::ip::address, std::vector<Entry>> entries_;
};

}  // namespace belljar::network
