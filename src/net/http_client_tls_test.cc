#include <gmock/gmock.h>

#include "base/error.h"
#include "base/testing.h"
#include "net/http_client.h"
#include "net/test_server.h"

namespace belljar::net {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kLoopback = "DNS:localhost,IP:127.0.0.1";

std::string hello(const TestRequest&) {
  return http_answer(200, "hello");
}
std::string connect_to_target(const TestRequest&) {
  return "";
}

HttpRequest request_to(const std::string& url) {
  HttpRequest request;
  request.url = parse_url(url).value();
  return request;
}

HttpSettings trusting(const TestAuthority& authority) {
  HttpSettings settings;
  settings.tls.ca_pem = {authority.certificate()};
  return settings;
}

std::string error_of(HttpSettings settings, const std::string& url) {
  HttpClient client{std::move(settings)};
  try {
    run(client.get(request_to(url)));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(HttpClientTls, AcceptsACertificateOfAConfiguredAuthority) {
  const TestAuthority authority;
  TestServer server{hello, authority.issue(kLoopback)};
  HttpClient client{trusting(authority)};
  EXPECT_EQ(run(client.get(request_to(server.url("/", "localhost")))).body, "hello");
  EXPECT_EQ(run(client.get(request_to(server.url("/", "127.0.0.1")))).body, "hello");
}

TEST(HttpClientTls, RefusesAnUnknownAuthorityAndSaysWhatToDo) {
  const TestAuthority authority;
  TestServer server{hello, authority.issue(kLoopback)};
  const std::string error = error_of({}, server.url("/"));
  EXPECT_THAT(error, HasSubstr("TLS with 127.0.0.1 failed"));
  EXPECT_THAT(error, HasSubstr("NODE_EXTRA_CA_CERTS"));
  EXPECT_TRUE(server.requests().empty());
}

TEST(HttpClientTls, RefusesACertificateForAnotherHost) {
  const TestAuthority authority;
  TestServer server{hello, authority.issue("DNS:other.example")};
  EXPECT_THAT(error_of(trusting(authority), server.url("/", "localhost")),
              HasSubstr("another host"));
  EXPECT_THAT(error_of(trusting(authority), server.url("/")), HasSubstr("another host"));
}

TEST(HttpClientTls, AcceptsAnythingWhenStrictSslIsOff) {
  const TestAuthority authority;
  TestServer server{hello, authority.issue("DNS:other.example")};
  HttpSettings settings;
  settings.tls.verify = TlsSettings::Verify::no;
  HttpClient client{settings};
  EXPECT_EQ(run(client.get(request_to(server.url("/")))).body, "hello");
}

TEST(HttpClientTls, NeverFollowsARedirectAwayFromTls) {
  const TestAuthority authority;
  TestServer plain{hello};
  const std::string location = "Location: " + plain.url("/") + "\r\n";
  TestServer server{[&](const TestRequest&) { return http_answer(302, "", location); },
                    authority.issue(kLoopback)};
  EXPECT_THAT(error_of(trusting(authority), server.url("/")), HasSubstr("without TLS"));
}

TEST(HttpClientTls, GoesThroughATunnelOfAnHttpProxy) {
  const TestAuthority authority;
  TestServer server{hello, authority.issue("DNS:registry.invalid")};
  TestServer proxy{connect_to_target};
  HttpSettings settings = trusting(authority);
  settings.proxy.for_https = parse_url("http://me:pw@127.0.0.1:" + std::to_string(proxy.port()));
  HttpClient client{settings};
  // The name is never looked up here: the proxy does that.
  EXPECT_EQ(run(client.get(request_to(server.url("/x", "registry.invalid")))).body, "hello");
  const TestRequest seen = proxy.requests().at(0);
  EXPECT_EQ(seen.target, "registry.invalid:" + std::to_string(server.port()));
  EXPECT_EQ(seen.headers.at("proxy-authorization"), "Basic bWU6cHc=");
  EXPECT_FALSE(server.requests().at(0).headers.contains("proxy-authorization"));
}

TEST(HttpClientTls, GoesThroughATunnelOfAnHttpsProxy) {
  const TestAuthority authority;
  TestServer server{hello, authority.issue("DNS:registry.invalid")};
  TestServer proxy{connect_to_target, authority.issue(kLoopback)};
  HttpSettings settings = trusting(authority);
  settings.proxy.for_https = parse_url(proxy.url("/"));
  HttpClient client{settings};
  EXPECT_EQ(run(client.get(request_to(server.url("/x", "registry.invalid")))).body, "hello");
}

TEST(HttpClientTls, SaysThatTheProxyWantsAPasswordWithoutShowingTheOneItGot) {
  TestServer proxy{[](const TestRequest&) { return http_answer(407, "who are you?"); }};
  HttpSettings settings;
  settings.proxy.for_https =
      parse_url("http://me:sesame@127.0.0.1:" + std::to_string(proxy.port()));
  const std::string error = error_of(settings, "https://registry.invalid/");
  EXPECT_THAT(error, HasSubstr("status 407"));
  EXPECT_THAT(error, HasSubstr("user and password"));
  EXPECT_THAT(error, Not(HasSubstr("sesame")));
}

TEST(HttpClientTls, RefusesABadAuthorityFile) {
  HttpSettings settings;
  settings.tls.ca_pem = {"not a certificate"};
  EXPECT_THROW(HttpClient{settings}, Error);
  settings.tls = {};
  settings.tls.ca_files = {"/nonexistent.pem"};
  EXPECT_THROW(HttpClient{settings}, Error);
}

}  // namespace
}  // namespace belljar::net
