#include "network/proxy_request.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace belljar::network {
namespace {

ProxyRequest read(const std::string& first_line, const std::string& headers = "") {
  return read_proxy_request(first_line + "\r\n" + headers + "\r\n");
}

std::string complaint(const std::string& head) {
  try {
    read_proxy_request(head);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::invalid) << head;
    return e.what();
  }
  return "";
}

TEST(ProxyRequest, AsksForAConnectionByName) {
  const ProxyRequest request = read("CONNECT Example.COM:443 HTTP/1.1", "Host: other.test\r\n");
  EXPECT_EQ(request.host, "example.com");
  EXPECT_EQ(request.port, 443);
  EXPECT_FALSE(request.address);
  EXPECT_TRUE(request.is_tunnel());
}

TEST(ProxyRequest, AsksForAConnectionByAddress) {
  EXPECT_EQ(read("CONNECT 10.0.2.2:80 HTTP/1.1").address->to_string(), "10.0.2.2");
  EXPECT_EQ(read("CONNECT [2001:db8::1]:80 HTTP/1.1").address->to_string(), "2001:db8::1");
}

TEST(ProxyRequest, TakesOffTheDisguiseOfAnAddress) {
  const ProxyRequest request = read("CONNECT [::ffff:127.0.0.1]:80 HTTP/1.1");
  EXPECT_EQ(request.host, "127.0.0.1");
  EXPECT_TRUE(request.address->is_v4());
}

TEST(ProxyRequest, WritesTheHeadAnewForTheHost) {
  const ProxyRequest request =
      read("POST http://Example.com:8080/a?b=c HTTP/1.1",
           "Host: evil.test\r\nX-Own: 1\r\nProxy-Authorization: Basic eA==\r\n"
           "Proxy-Connection: keep-alive\r\nconnection: keep-alive\r\nContent-Length: 3\r\n");
  EXPECT_EQ(request.host, "example.com");
  EXPECT_EQ(request.port, 8080);
  EXPECT_FALSE(request.is_tunnel());
  EXPECT_EQ(request.head,
            "POST /a?b=c HTTP/1.1\r\nHost: example.com:8080\r\nX-Own: 1\r\nContent-Length: 3\r\n"
            "Connection: close\r\n\r\n");
}

TEST(ProxyRequest, LeavesAnUpgradeToTheHost) {
  const ProxyRequest request =
      read("GET http://example.com/ HTTP/1.1", "Connection: Upgrade\r\nUpgrade: websocket\r\n");
  EXPECT_EQ(request.head,
            "GET / HTTP/1.1\r\nHost: example.com\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\n\r\n");
}

TEST(ProxyRequest, RefusesWhatIsNoHost) {
  for (const char* target :
       {"example.com", "example.com:", "example.com:0", "example.com:99999", ":443", "a@b.test:443",
        "127.1:80", "0x7f000001:80", "2130706433:80", "[fe80::1%25lo]:80", "[fe80::1%lo]:80",
        "a/b:443", "b\xc3\xbc.test:443", "a..b:443", "example.com:443/x", "-:443:443"}) {
    EXPECT_NE(complaint("CONNECT " + std::string{target} + " HTTP/1.1\r\n\r\n"), "") << target;
  }
}

TEST(ProxyRequest, RefusesWhatIsNotForAProxy) {
  EXPECT_NE(complaint("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"), "");
  EXPECT_NE(complaint("GET https://a.test/ HTTP/1.1\r\n\r\n"), "");
  EXPECT_NE(complaint("GET ftp://a.test/ HTTP/1.1\r\n\r\n"), "");
  EXPECT_NE(complaint("GET http://u:p@a.test/ HTTP/1.1\r\n\r\n"), "");
  EXPECT_NE(complaint("hello\r\n\r\n"), "");
}

TEST(ProxyRequest, RefusesHeadsThatReadersTakeDifferently) {
  EXPECT_NE(complaint("CONNECT a.test:443 HTTP/1.1\nX: y\n\n\r\n\r\n"), "");
  EXPECT_NE(complaint("GET http://a.test/ HTTP/1.1\r\nX: a\r\n b\r\n\r\n"), "");
  EXPECT_NE(complaint("GET http://a.test/ HTTP/1.1\r\nContent-Length: 1\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n"),
            "");
  EXPECT_NE(complaint("CONNECT a.test:443 HTTP/1.1\r\n"), "");
}

}  // namespace
}  // namespace belljar::network
