#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "drivers/docker/engine_address.h"

// For unit tests only.
namespace belljar::docker {

// The message of what a call throws.
template <class Call>
std::string failure_of(Call call, Code expected) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

// TCP sockets of the loopback interface: one that listens, and one that is connected to it.
Fd listening_socket();
Fd connected_socket(const Fd& server);

struct FakeRequest {
  std::string line;  // "GET /version HTTP/1.1"
  std::string body;
  std::string registry_auth;  // X-Registry-Auth; "" without it
};

// Answers like an engine, on a unix socket of its own and with a thread of its own: one request per
// connection, with exactly the bytes that the handler returns (net::http_answer() makes some).
class FakeEngine {
 public:
  using Handler = std::function<std::string(const FakeRequest&)>;

  explicit FakeEngine(Handler handler);
  ~FakeEngine();
  FakeEngine(const FakeEngine&) = delete;
  FakeEngine& operator=(const FakeEngine&) = delete;

  EngineAddress address() const;
  std::vector<FakeRequest> requests() const;  // that have arrived so far

  // What a handler returns to keep the connection open in silence until the client closes it.
  static constexpr const char* kSilence = "(silence)";

 private:
  void serve();
  void serve_one(int connection);

  Handler handler_;
  std::string directory_;
  Fd listener_;
  Pipe stop_;
  mutable std::mutex mutex_;
  std::vector<FakeRequest> requests_;
  std::thread thread_;  // last: runs while all of the above live
};

}  // namespace belljar::docker
