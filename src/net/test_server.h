#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "net/certificate_authority.h"

// For unit tests only.
namespace belljar::net {

struct TestRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
};

// A server on 127.0.0.1 with a thread of its own. It answers one request per connection, one
// connection after the other, with exactly the bytes that the handler returns, and then closes the
// connection. As an HTTP proxy it serves CONNECT by itself, leading every tunnel to the asked port
// of 127.0.0.1.
class TestServer {
 public:
  using Handler = std::function<std::string(const TestRequest&)>;

  explicit TestServer(Handler handler, std::optional<Credentials> certificate = {});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  uint16_t port() const { return port_; }
  std::string url(const std::string& path, const std::string& host = "127.0.0.1") const;

  std::vector<TestRequest> requests() const;  // that have arrived so far

 private:
  struct Connection;
  void serve();
  void serve_one(Connection& connection);
  void tunnel(Connection& connection, const TestRequest& request);

  Handler handler_;
  std::optional<Credentials> certificate_;
  Fd listener_;
  Pipe stop_;
  uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<TestRequest> requests_;
  std::thread thread_;  // last: runs while all of the above live
};

// A complete answer with a length.
std::string http_answer(int status, const std::string& body, const std::string& more_headers = "");

// What a handler returns to keep the connection open in silence until the client closes it.
inline const std::string kSilence = "(silence)";

}  // namespace belljar::net
