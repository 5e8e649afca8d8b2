#include <gmock/gmock.h>

#include "base/error.h"
#include "base/posix.h"
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

HttpSettings trusting(const CertificateAuthority& authority) {
  HttpSettings settings;
  settings.tls.ca = {{"the test", authority.certificate()}};
  return settings;
}

std::string error_of(HttpSettings settings, const std::string& url) {
  try {
    HttpClient client{std::move(settings)};
    run(client.get(request_to(url)));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(HttpClientTls, AcceptsACertificateOfAConfiguredAuthority) {
  const CertificateAuthority authority{"a test"};
  TestServer server{hello, authority.issue(kLoopback)};
  HttpClient client{trusting(authority)};
  EXPECT_EQ(run(client.get(request_to(server.url("/", "localhost")))).body, "hello");
  EXPECT_EQ(run(client.get(request_to(server.url("/", "127.0.0.1")))).body, "hello");
}

TEST(HttpClientTls, RefusesWhatAnAuthorityOfCertainDomainsSignsForOthers) {
  for (const std::string domain : {"localhost", "api.test"}) {
    const CertificateAuthority authority{"a test", {domain}};
    TestServer server{hello, authority.issue("DNS:localhost")};
    const std::string error = error_of(trusting(authority), server.url("/", "localhost"));
    EXPECT_THAT(error,
                HasSubstr(domain == "localhost" ? "no error" : "permitted subtree violation"));
  }
}

TEST(HttpClientTls, RefusesAnUnknownAuthorityAndSaysWhatToDo) {
  const CertificateAuthority authority{"a test"};
  TestServer server{hello, authority.issue(kLoopback)};
  const std::string error = error_of({}, server.url("/"));
  EXPECT_THAT(error, HasSubstr("TLS with 127.0.0.1 failed"));
  EXPECT_THAT(error, HasSubstr("NODE_EXTRA_CA_CERTS"));
  EXPECT_TRUE(server.requests().empty());
}

TEST(HttpClientTls, RefusesACertificateForAnotherHost) {
  const CertificateAuthority authority{"a test"};
  TestServer server{hello, authority.issue("DNS:other.example")};
  EXPECT_THAT(error_of(trusting(authority), server.url("/", "localhost")),
              HasSubstr("another host"));
  EXPECT_THAT(error_of(trusting(authority), server.url("/")), HasSubstr("another host"));
}

TEST(HttpClientTls, AcceptsAnythingWhenStrictSslIsOff) {
  const CertificateAuthority authority{"a test"};
  TestServer server{hello, authority.issue("DNS:other.example")};
  HttpSettings settings;
  settings.tls.verify = TlsSettings::Verify::no;
  HttpClient client{settings};
  EXPECT_EQ(run(client.get(request_to(server.url("/")))).body, "hello");
}

TEST(HttpClientTls, NeverFollowsARedirectAwayFromTls) {
  const CertificateAuthority authority{"a test"};
  TestServer plain{hello};
  const std::string location = "Location: " + plain.url("/") + "\r\n";
  TestServer server{[&](const TestRequest&) { return http_answer(302, "", location); },
                    authority.issue(kLoopback)};
  EXPECT_THAT(error_of(trusting(authority), server.url("/")), HasSubstr("without TLS"));
}

TEST(HttpClientTls, GoesThroughATunnelOfAnHttpProxy) {
  const CertificateAuthority authority{"a test"};
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
  const CertificateAuthority authority{"a test"};
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

// A file that is gone once its descriptor is closed.
std::string path_of(const Fd& file) {
  return "/proc/self/fd/" + std::to_string(file.get());
}

TEST(HttpClientTls, NamesABadAuthorityFileWheneverItWasRead) {
  const Fd file = make_memory_file("ca", "not a certificate");
  const std::string expected =
      "GET https://registry.invalid/: the CA file " + path_of(file) + " holds no PEM certificate";
  HttpSettings settings;
  settings.tls.ca_files = {path_of(file)};
  EXPECT_EQ(error_of(settings, "https://registry.invalid/"), expected);
  read_ca_files(settings.tls, "");
  EXPECT_TRUE(settings.tls.ca_files.empty());
  EXPECT_EQ(error_of(settings, "https://registry.invalid/"), expected);
  settings.tls = {};
  settings.tls.ca_files = {"/nonexistent.pem"};
  EXPECT_THAT(error_of(settings, "https://registry.invalid/"), HasSubstr("/nonexistent.pem"));
  EXPECT_THROW(read_ca_files(settings.tls, ""), Error);
}

TEST(HttpClientTls, TrustsASystemFileThatWasReadWhileItCouldBe) {
  const CertificateAuthority authority{"a test"};
  TestServer server{hello, authority.issue(kLoopback)};
  HttpSettings settings;
  Fd file = make_memory_file("system", authority.certificate());
  read_ca_files(settings.tls, path_of(file));
  file.reset();
  HttpClient client{settings};
  EXPECT_EQ(run(client.get(request_to(server.url("/")))).body, "hello");
}

TEST(HttpClientTls, GoesOnWithoutASystemFileThatIsEmptyOrAbsent) {
  HttpSettings settings;
  read_ca_files(settings.tls, "/nonexistent.pem");
  EXPECT_FALSE(settings.tls.system_pem);
  read_ca_files(settings.tls, "/dev/null");
  EXPECT_EQ(settings.tls.system_pem, "");
  EXPECT_NO_THROW(make_tls_client(settings.tls));
}

}  // namespace
}  // namespace belljar::net
