#pragma once

#include <string>

#include "base/task.h"
#include "network/dns_message.h"
#include "network/name_servers.h"

namespace belljar::network {

// Answers DNS queries of sandboxes by asking the name servers of the host. Keeps nothing: each
// query has a socket and an id of its own, which somebody who wants to forge an answer would have
// to guess. Which names may be asked for is the caller's business, and how many at a time.
class Resolver {
 public:
  explicit Resolver(std::string configuration = "/etc/resolv.conf");

  // For tests: these servers, each of which has `limit` to answer.
  Resolver(NameServerList servers, milliseconds limit);

  // The whole answer for the client, with the client's id: that of a server, or SERVFAIL if none
  // gives one. `query` is the client's message, and `parsed` what parse_query() made of it. A
  // client that came by UDP gets an answer that is marked as truncated if it does not fit. Other
  // classes than IN and transfers of zones are refused: they are for those who run name servers.
  Task<std::string> answer(std::string query, DnsQuery parsed, bool over_tcp);

 private:
  NameServers servers_;
  milliseconds limit_;
};

}  // namespace belljar::network
