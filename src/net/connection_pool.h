#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/stream.h"
#include "net/url.h"

namespace belljar::net {

// Connections that wait for their next request, so that many requests to one host share the cost
// of TCP and TLS. Belongs to the loop, and must not outlive it; destroying it closes them.
class ConnectionPool {
 public:
  // One that leads to the same place as `url`, or null. The peer may have closed it meanwhile.
  std::unique_ptr<Stream> take(const Url& url);

  // Keeps a connection on which a complete answer has arrived and nothing else.
  void put(const Url& url, std::unique_ptr<Stream> stream);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Idle {
    std::unique_ptr<Stream> stream;
    Time since;
  };
  std::map<std::string, std::vector<Idle>> by_origin_;
};

}  // namespace belljar::net
