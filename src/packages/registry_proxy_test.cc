#include "packages/registry_proxy.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/json.h"
#include "base/testing.h"
#include "net/http_client.h"
#include "net/test_server.h"
#include "packages/testing.h"

namespace belljar::packages {
namespace {

using net::TestRequest;
using net::TestServer;
using testing::HasSubstr;
using testing::Not;

// The test server has one connection at a time, so none may be kept waiting.
std::string http_answer(int status, const std::string& body) {
  return net::http_answer(status, body, "Connection: close\r\n");
}

const std::string kTarball = "the bytes of a tarball";

Fd listen_on_loopback() {
  Fd fd{sys(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket")};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sys(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), "bind");
  sys(::listen(fd.get(), 16), "listen");
  return fd;
}

struct Given {
  int status = 0;
  std::string body;
};

// Asks the proxy for one thing after the other, as a npm would.
Task<std::vector<Given>> ask_for(std::string url, std::vector<std::string> targets) {
  net::HttpClient client{{}};
  std::vector<Given> given;
  for (const std::string& target : targets) {
    net::HttpRequest request;
    request.url = net::parse_url(url + target).value();
    const net::HttpResponse response = co_await client.get(std::move(request));
    given.push_back({response.status, response.body});
  }
  co_return given;
}

class RegistryProxyTest : public testing::Test {
 protected:
  RegistryProxyTest() {
    host_.home = directory_.path();
    host_.prefixes = {};
  }

  // What the proxy of a registry at `upstream` gives.
  std::vector<Given> ask(const TestServer& upstream, std::vector<std::string> targets) {
    host_.environment["npm_config_registry"] = upstream.url("/npm/");
    return run(play(std::move(targets)));
  }

  Task<std::vector<Given>> play(std::vector<std::string> targets) {
    using namespace asio::experimental::awaitable_operators;
    Registry registry{host_};
    RegistryProxy::Progress on_progress = [this](const RegistryProxy&) { ++progress_; };
    RegistryProxy proxy{registry, listen_on_loopback(), directory_.path(), limits_, on_progress};
    url_ = proxy.url();
    const std::string url = url_.substr(0, url_.size() - 1);
    auto result = co_await (settle(ask_for(url, std::move(targets))) || proxy.serve(expected_));
    trouble_ = proxy.trouble();
    packages_ = proxy.packages();
    bytes_ = proxy.bytes();
    Settled<std::vector<Given>>& given = std::get<0>(result);
    if (given.error) std::rethrow_exception(given.error);
    co_return std::move(*given.value);
  }

  TestDirectory directory_;
  Surroundings host_;
  ProxyLimits limits_;
  std::vector<std::string> expected_;
  std::string url_;
  std::optional<RegistryProxy::Trouble> trouble_;
  size_t packages_ = 0;
  uint64_t bytes_ = 0;
  int progress_ = 0;
};

// A registry with one package, whose tarballs are at `/npm/x.tgz`.
std::string serve_x(const TestRequest& request, const std::string& integrity) {
  if (request.target.ends_with(".tgz")) return http_answer(200, kTarball);
  if (!request.target.ends_with("x")) return http_answer(404, "{}");
  const std::string dist =
      fmt::format(R"({{"tarball":"http://{}/npm/x.tgz","integrity":"{}","shasum":"1"}})",
                  request.headers.at("host"), integrity);
  return http_answer(200, fmt::format(R"({{"name":"x","dist-tags":{{"latest":"1.0.0"}},"versions":{{
        "1.0.0":{{"name":"x","dependencies":{{"y":"^2"}},"cpu":["x64"],"hasInstallScript":true,
                  "dist":{0}}},
        "1.1.0-rc.1":{{"dist":{0}}},"broken":{{"dist":{0}}},"2.0.0":7,"3.0.0":{{}}}}}})",
                                      dist));
}

std::string serve_good_x(const TestRequest& request) {
  return serve_x(request, sha512_integrity(kTarball));
}

TEST_F(RegistryProxyTest, GivesADocumentWithItsOwnTarballAddresses) {
  TestServer upstream{serve_good_x};
  const Given given = ask(upstream, {"/x"}).at(0);
  EXPECT_EQ(given.status, 200);
  EXPECT_THAT(given.body, Not(HasSubstr(std::to_string(upstream.port()))));
  const json::object versions = json::parse(given.body).at("versions").as_object();
  EXPECT_EQ(versions.size(), 2u);
  const json::object& version = versions.at("1.0.0").as_object();
  EXPECT_EQ(version.at("dist").at("tarball").as_string(), url_ + "-/tarball/x/1.0.0.tgz");
  EXPECT_EQ(version.at("dist").at("integrity").as_string(), sha512_integrity(kTarball));
  EXPECT_EQ(version.at("dependencies").at("y").as_string(), "^2");
  EXPECT_TRUE(version.at("hasInstallScript").as_bool());
  EXPECT_EQ(json::parse(given.body).at("dist-tags").at("latest").as_string(), "1.0.0");
  EXPECT_THAT(upstream.requests().at(0).headers.at("accept"), HasSubstr("install-v1+json"));
}

TEST_F(RegistryProxyTest, GivesTheTarballOfAVersionThatItOffered) {
  TestServer upstream{serve_good_x};
  const auto given = ask(upstream, {"/x", "/-/tarball/x/1.0.0.tgz", "/-/tarball/x/1.1.0-rc.1.tgz"});
  EXPECT_EQ(given.at(1).body, kTarball);
  EXPECT_EQ(given.at(2).body, kTarball);
  EXPECT_EQ(packages_, 2u);
  EXPECT_EQ(progress_, 2);
  EXPECT_GT(bytes_, 2 * kTarball.size());
  EXPECT_FALSE(trouble_);
}

TEST_F(RegistryProxyTest, FetchesWhatIsExpectedBeforeItIsAskedFor) {
  TestServer upstream{serve_good_x};
  expected_ = {"x", "missing", "never-tried"};
  // Whether or not the first answer was there in time, it is complete and right.
  const auto given = ask(upstream, {"/x", "/-/tarball/x/1.0.0.tgz", "/missing"});
  EXPECT_EQ(given.at(0).status, 200);
  EXPECT_EQ(given.at(1).body, kTarball);
  EXPECT_EQ(given.at(2).status, 404);
  EXPECT_EQ(trouble_->package, "missing");
}

TEST_F(RegistryProxyTest, TakesScopedNamesInBothFormsAndSendsTheTokenOnlyUpstream) {
  TestServer upstream{serve_good_x};
  host_.environment[fmt::format("npm_config_//127.0.0.1:{}/npm/:_authToken", upstream.port())] =
      "s3cret";
  const auto given =
      ask(upstream, {"/@corp%2fx", "/@corp/x", "/%40corp%2Fx", "/-/tarball/@corp%2fx/1.0.0.tgz"});
  for (const Given& one : given) EXPECT_EQ(one.status, 200);
  EXPECT_THAT(given.at(0).body, HasSubstr(url_ + "-/tarball/@corp%2fx/1.0.0.tgz"));
  EXPECT_THAT(given.at(0).body, Not(HasSubstr("s3cret")));
  for (const TestRequest& request : upstream.requests())
    EXPECT_EQ(request.headers.at("authorization"), "Bearer s3cret");
  EXPECT_EQ(upstream.requests().at(1).target, "/npm/@corp%2fx");
}

TEST_F(RegistryProxyTest, HasNothingButPackages) {
  TestServer upstream{serve_good_x};
  const std::vector<std::string> targets{
      "/",
      "/-/npm/v1/security/advisories/bulk",
      "/-/v1/search?text=x",
      "/x/1.0.0",
      "/../x",
      "/..%2fx",
      "/x?write=true",
      "/-/tarball/x/1.0.0.tgz",  // its document was not asked for
      "/-/tarball/x/.tgz",
      "/-/tarball/1.0.0.tgz",
      "/-/tarball/../x.tgz",
  };
  const auto given = ask(upstream, targets);
  for (size_t i = 0; i < targets.size(); ++i) EXPECT_EQ(given.at(i).status, 404) << targets[i];
  EXPECT_EQ(ask(upstream, {"/x%00"}).at(0).status, 400);
  EXPECT_TRUE(upstream.requests().empty());
}

TEST_F(RegistryProxyTest, HasNoVersionThatTheDocumentDoesNotHave) {
  TestServer upstream{serve_good_x};
  const auto given = ask(upstream, {"/x", "/-/tarball/x/9.0.0.tgz", "/-/tarball/x/3.0.0.tgz",
                                    "/-/tarball/x/broken.tgz", "/-/tarball/x/1.0.0%2f..%2f..tgz"});
  for (size_t i = 1; i < given.size(); ++i) EXPECT_EQ(given.at(i).status, 404) << i;
  EXPECT_EQ(upstream.requests().size(), 1u);
}

TEST_F(RegistryProxyTest, KeepsATarballWithTheWrongIntegrityToItself) {
  TestServer upstream{[](const TestRequest& request) {
    return serve_x(request, sha512_integrity("another tarball"));
  }};
  const auto given = ask(upstream, {"/x", "/-/tarball/x/1.0.0.tgz"});
  EXPECT_EQ(given.at(1).status, 403);
  EXPECT_THAT(given.at(1).body, Not(HasSubstr(kTarball)));
  EXPECT_EQ(trouble_->package, "x");
  EXPECT_THAT(trouble_->reason, HasSubstr("damaged or exchanged"));
  EXPECT_EQ(packages_, 0u);
}

TEST_F(RegistryProxyTest, PassesOnWhatTheRegistryRefuses) {
  int status = 404;
  TestServer upstream{[&status](const TestRequest&) { return http_answer(status, "no"); }};
  const std::pair<int, int> cases[] = {{404, 404}, {401, 403}, {403, 403}, {500, 502}, {429, 502}};
  for (const auto& [from, to] : cases) {
    status = from;
    const Given given = ask(upstream, {"/y"}).at(0);
    EXPECT_EQ(given.status, to);
    EXPECT_EQ(given.body, R"({"error":"y cannot be had"})");
    EXPECT_EQ(trouble_->package, "y");
    EXPECT_THAT(trouble_->reason, HasSubstr("127.0.0.1"));
  }
}

TEST_F(RegistryProxyTest, RefusesADocumentThatIsNone) {
  TestServer upstream{[](const TestRequest&) { return http_answer(200, "<html>log in</html>"); }};
  EXPECT_EQ(ask(upstream, {"/y"}).at(0).status, 502);
  EXPECT_THAT(trouble_->reason, HasSubstr("not a package document"));
}

TEST_F(RegistryProxyTest, FetchesNoMoreThanItsLimits) {
  TestServer upstream{serve_good_x};
  limits_.tarball = kTarball.size() - 1;
  EXPECT_EQ(ask(upstream, {"/x", "/-/tarball/x/1.0.0.tgz"}).at(1).status, 429);
  EXPECT_THAT(trouble_->reason, HasSubstr("x 1.0.0 has more than"));
  limits_ = {};
  limits_.total = 100;
  EXPECT_EQ(ask(upstream, {"/x"}).at(0).status, 429);
  limits_ = {};
  limits_.requests = 2;
  const auto given = ask(upstream, {"/x", "/x", "/x"});
  EXPECT_EQ(given.at(1).status, 200);
  EXPECT_EQ(given.at(2).status, 429);
  EXPECT_THAT(trouble_->reason, HasSubstr("more than 2 requests"));
}

}  // namespace
}  // namespace belljar::packages
