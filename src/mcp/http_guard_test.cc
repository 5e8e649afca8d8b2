#include "mcp/http_guard.h"

#include <gtest/gtest.h>

namespace belljar::mcp {
namespace {

// 0: let through.
int status(net::HttpHeaders headers, const AllowedHosts& allowed = {}) {
  net::HttpServerRequest request;
  request.headers = std::move(headers);
  const auto answer = refuse_foreign(request, allowed);
  return answer ? answer->status : 0;
}

TEST(HttpGuard, LetsThisMachineIn) {
  for (const char* host : {"localhost", "localhost:8765", "127.0.0.1", "127.0.0.1:1", "[::1]",
                           "[::1]:65535", "LocalHost:80"}) {
    EXPECT_EQ(status({{"host", host}}), 0) << host;
  }
}

TEST(HttpGuard, ComparesTheWholeName) {
  for (const char* host : {"evil.com",
                           "localhost.evil.com",
                           "evil.localhost",
                           "127.0.0.1.nip.io",
                           "127.0.0.1:80@evil",
                           "localhost.",
                           "localhost:",
                           "localhost:80:80",
                           "localhost:8x",
                           "localhost:123456",
                           "user@localhost",
                           "0.0.0.0",
                           "127.1",
                           "2130706433",
                           "[::]",
                           "[::1",
                           "[::1]x",
                           "::1",
                           "[0:0:0:0:0:0:0:1]",
                           "",
                           " ",
                           "localhost,evil.com",
                           "localhost/",
                           "127.0.0.2"}) {
    EXPECT_EQ(status({{"host", host}}), 403) << host;
  }
}

TEST(HttpGuard, NeedsOneHost) {
  EXPECT_EQ(status({}), 400);
  EXPECT_EQ(status({{"host", "localhost"}, {"host", "localhost"}}), 400);
}

TEST(HttpGuard, KnowsOtherNamesIfTold) {
  AllowedHosts allowed;
  allowed.hosts = {"mcp.example.com", "other.example.com:8443"};
  EXPECT_EQ(status({{"host", "mcp.example.com"}}, allowed), 0);
  EXPECT_EQ(status({{"host", "MCP.example.com:443"}}, allowed), 0);
  EXPECT_EQ(status({{"host", "other.example.com:8443"}}, allowed), 0);
  EXPECT_EQ(status({{"host", "other.example.com"}}, allowed), 403);
  EXPECT_EQ(status({{"host", "localhost"}}, allowed), 403);
}

TEST(HttpGuard, OriginsMayBeMissingButNotForeign) {
  const auto with_origin = [](const char* origin) {
    return status({{"host", "localhost"}, {"origin", origin}});
  };
  for (const char* origin : {"http://localhost", "http://localhost:3000", "https://127.0.0.1:6274",
                             "http://[::1]:80", "HTTP://LOCALHOST"}) {
    EXPECT_EQ(with_origin(origin), 0) << origin;
  }
  for (const char* origin :
       {"http://evil.com", "https://localhost.evil.com", "null", "", "file://", "localhost",
        "ftp://localhost", "http://localhost:3000/", "http://localhost@evil.com",
        "http://evil.com#localhost", "http://0.0.0.0:80", "http://localhost http://evil.com",
        "http://localhost:80, http://evil.com", "chrome-extension://localhost"}) {
    EXPECT_EQ(with_origin(origin), 403) << origin;
  }
  EXPECT_EQ(
      status(
          {{"host", "localhost"}, {"origin", "http://localhost"}, {"origin", "http://localhost"}}),
      403);
}

TEST(HttpGuard, KnowsOtherOriginsIfTold) {
  AllowedHosts allowed;
  allowed.origins = {"https://app.example.com"};
  allowed.loopback = false;
  const auto with_origin = [&allowed](const char* origin) {
    return status({{"host", "localhost"}, {"origin", origin}}, allowed);
  };
  EXPECT_EQ(with_origin("https://app.example.com"), 0);
  EXPECT_EQ(with_origin("https://APP.example.com"), 0);
  EXPECT_EQ(with_origin("http://app.example.com"), 403);
  EXPECT_EQ(with_origin("https://app.example.com:444"), 403);
  EXPECT_EQ(with_origin("http://localhost"), 403);
}

TEST(HttpGuard, NeverAllowsCrossOriginReading) {
  net::HttpServerRequest request;
  request.headers = {{"host", "localhost"}, {"origin", "http://evil.com"}};
  const auto answer = refuse_foreign(request, {});
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->headers.empty());
}

}  // namespace
}  // namespace belljar::mcp
