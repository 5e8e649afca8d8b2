#include "drivers/docker/registry_credentials.h"

#include <gmock/gmock.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/testing.h"
#include "drivers/docker/testing.h"

namespace belljar::docker {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// One entry of `auths` with what base64 makes of `login`.
std::string entry(const std::string& key, std::string_view login) {
  return fmt::format(R"("{}":{{"auth":"{}"}})", key, base64(login));
}
std::string auths(const std::string& entries) {
  return R"({"auths":{)" + entries + "}}";
}

RegistryCredentials parsed(const std::string& text) {
  return RegistryCredentials::parse(text, "config.json");
}

// "user password" for that image; "" if there is no login.
std::string login_for(const RegistryCredentials& credentials, const char* image) {
  const auto reference = parse_image_reference(image);
  const RegistryLogin* login = reference ? credentials.login_for(*reference) : nullptr;
  return login != nullptr ? login->user + " " + login->password : "";
}

std::string failure_of_parsing(const std::string& text) {
  return failure_of([&text] { parsed(text); }, Code::invalid);
}

TEST(RegistryCredentials, AreForTheirRegistryOnly) {
  const auto credentials = parsed(auths(entry("ghcr.io", "a:b") + "," + entry("h:5000", "c:d")));
  EXPECT_EQ(login_for(credentials, "ghcr.io/acme/tools:1"), "a b");
  EXPECT_EQ(login_for(credentials, "GHCR.io/x"), "a b");
  EXPECT_EQ(login_for(credentials, "h:5000/x"), "c d");
  for (const char* other : {"h:5001/x", "h.example/x", "ghcr.io:443/x", "ghcr.io.example/x", "x",
                            "sub.ghcr.io/x", "library/ghcr.io", "localhost/ghcr.io/x"})
    EXPECT_EQ(login_for(credentials, other), "") << other;
}

TEST(RegistryCredentials, KnowTheDefaultRegistryByItsOldAddress) {
  for (const char* key : {"https://index.docker.io/v1/", "index.docker.io", "docker.io"}) {
    const auto credentials = parsed(auths(entry(key, "a:b")));
    for (const char* image : {"node", "acme/node:24", "docker.io/node", "index.docker.io/a/b"})
      EXPECT_EQ(login_for(credentials, image), "a b") << key << " " << image;
    EXPECT_EQ(login_for(credentials, "ghcr.io/node"), "");
    EXPECT_EQ(login_for(credentials, "localhost/node"), "");
  }
}

TEST(RegistryCredentials, TakeAddressesForTheirHost) {
  for (const char* key : {"https://ghcr.io", "http://ghcr.io/", "https://GHCR.io/v2/"})
    EXPECT_EQ(login_for(parsed(auths(entry(key, "a:b"))), "ghcr.io/x/y"), "a b") << key;
  // The name itself counts more, wherever it stands.
  EXPECT_EQ(login_for(parsed(auths(entry("https://h:1/v2/", "a:b") + "," + entry("h:1", "c:d"))),
                      "h:1/x"),
            "c d");
}

TEST(RegistryCredentials, WithAPathAreForWhatIsBeneathIt) {
  const auto credentials =
      parsed(auths(entry("h:1/acme", "a:b") + "," + entry("h:1/acme/team/", "c:d") + "," +
                   entry("docker.io/library", "e:f")));
  EXPECT_EQ(login_for(credentials, "h:1/acme/x"), "a b");
  EXPECT_EQ(login_for(credentials, "h:1/acme/team/x"), "c d");
  EXPECT_EQ(login_for(credentials, "h:1/acme"), "a b");
  EXPECT_EQ(login_for(credentials, "h:1/acme2/x"), "");
  EXPECT_EQ(login_for(credentials, "h:1/x"), "");
  EXPECT_EQ(login_for(credentials, "node"), "e f");
  EXPECT_EQ(login_for(credentials, "acme/node"), "");
}

TEST(RegistryCredentials, MayHaveColonsAndEverythingPrintableInAPassword) {
  EXPECT_EQ(login_for(parsed(auths(entry("h:1", "a:b:c:"))), "h:1/x"), "a b:c:");
  EXPECT_EQ(login_for(parsed(auths(entry("h:1", "a:"))), "h:1/x"), "a ");
  EXPECT_EQ(login_for(parsed(auths(entry("h:1", "a:\xc3\xa9 \"\\{}"))), "h:1/x"),
            "a \xc3\xa9 \"\\{}");
}

TEST(RegistryCredentials, MayBeAnIdentityToken) {
  const auto credentials = parsed(R"({"auths":{"h:1":{"auth":")" + base64("a:b") +
                                  R"(","identitytoken":"t"},"h:2":{"identitytoken":"u"}}})");
  const RegistryLogin* first = credentials.login_for(*parse_image_reference("h:1/x"));
  ASSERT_TRUE(first != nullptr);
  EXPECT_EQ(first->user, "a");
  EXPECT_EQ(first->password, "");
  EXPECT_EQ(first->identity_token, "t");
  const RegistryLogin* second = credentials.login_for(*parse_image_reference("h:2/x"));
  ASSERT_TRUE(second != nullptr);
  EXPECT_EQ(second->user, "");
  EXPECT_EQ(second->identity_token, "u");
}

TEST(RegistryCredentials, AreNoneWhereNothingIsSaid) {
  for (const char* text :
       {"{}", R"({"auths":{}})", R"({"auths":null,"credHelpers":null})", R"({"auths":{"h:1":{}}})",
        R"({"auths":{"h:1":{"auth":""}}})", R"({"credsStore":"pass"})",
        R"({"auths":{"":{},"https://":{}}})", R"({"HttpHeaders":{"a":"b"},"credsStore":""})"})
    EXPECT_EQ(login_for(parsed(text), "h:1/x"), "") << text;
}

TEST(RegistryCredentials, OfAHelperAreRefusedInWords) {
  for (const char* text :
       {R"({"auths":{"h:1":{}},"credsStore":"pass"})", R"({"credHelpers":{"h:1":"pass"}})",
        R"({"auths":{"https://h:1/v2/":{}},"credsStore":"pass"})"}) {
    const auto credentials = parsed(text);
    const std::string said =
        failure_of([&] { login_for(credentials, "h:1/x"); }, Code::unavailable);
    EXPECT_EQ(said,
              "the login for h:1 is with the credential helper \"pass\", and belljar executes no "
              "programs: name a docker-config that has it in \"auths\" (podman login --authfile "
              "FILE h:1 writes one, and docker login where no helper is installed), or pull the "
              "image beforehand");
    EXPECT_EQ(login_for(credentials, "h:2/x"), "");
  }
}

TEST(RegistryCredentials, InTheFileNeedNoHelper) {
  const std::string text = R"({"auths":{)" + entry("h:1", "a:b") +
                           R"(},"credsStore":"pass","credHelpers":{"h:1":"pass"}})";
  EXPECT_EQ(login_for(parsed(text), "h:1/x"), "a b");
}

TEST(RegistryCredentials, ThatAreBrokenAreToldByTheirKeyAndNotRepeated) {
  const std::string with_zero{"acme:secret\0", 12};
  for (const std::string_view login :
       {std::string_view{"acme-secret"}, std::string_view{":secret"}, std::string_view{with_zero},
        std::string_view{"acme:secret\r\nX: y"}, std::string_view{"acme:secret\x7f"},
        std::string_view{"acme\t:secret"}, std::string_view{"acme:secret\xff"}}) {
    const std::string said = failure_of_parsing(auths(entry("h:1", login)));
    EXPECT_THAT(said, StartsWith("config.json: the entry \"h:1\" of \"auths\" has "));
    EXPECT_THAT(said, HasSubstr("docker login h:1"));
    EXPECT_THAT(said, Not(HasSubstr("secret")));
    EXPECT_THAT(said, Not(HasSubstr(base64(login))));
  }
  for (const char* value : {R"("c2VjcmV0")", R"({"auth":"c2VjcmV0 "})", R"({"auth":"c2VjcmV"})",
                            R"({"auth":["c2VjcmV0"]})", R"({"auth":7})",
                            R"({"identitytoken":"c2VjcmV0\n"})", R"({"identitytoken":{}})"}) {
    const std::string said = failure_of_parsing(auths(fmt::format(R"("h:1":{})", value)));
    EXPECT_THAT(said, Not(HasSubstr("c2Vjcm"))) << value;
  }
  EXPECT_THAT(failure_of_parsing(auths(R"("h\u001b[31m\n":{"auth":"eA=="})")),
              StartsWith("config.json: the entry \"h [31m \" of"));
}

TEST(RegistryCredentials, ThatAreNoConfigurationAreToldByTheirFile) {
  const std::string with_zero{"{}\0", 3};
  for (const std::string& text :
       {std::string{}, std::string{"{"}, std::string{"[]"}, std::string{"\"secret\""},
        std::string{R"({"auths":[]})"}, std::string{R"({"credHelpers":{"h:1":7}})"}, with_zero,
        std::string{"{\"a\":\"\xff\"}"}, std::string(100'000, '['),
        R"({"auths":)" + std::string(100, '{')}) {
    const std::string said = failure_of_parsing(text);
    EXPECT_THAT(said, StartsWith("config.json")) << text.substr(0, 20);
    EXPECT_THAT(said, Not(HasSubstr("secret")));
  }
}

TEST(RegistryCredentials, AreReadFromTheirFile) {
  EXPECT_EQ(read_registry_credentials(""), nullptr);
  const TemporaryDirectory directory;
  const std::string file = directory.path() + "/config.json";
  const auto read = [&file] { read_registry_credentials(file); };
  EXPECT_THAT(failure_of(read, Code::invalid), HasSubstr(file + ": No such file"));
  write_file_atomically(file, auths(entry("h:1", "a:b")));
  EXPECT_EQ(login_for(*read_registry_credentials(file), "h:1/x"), "a b");
  write_file_atomically(file, "{} " + std::string(1 << 20, ' '));
  EXPECT_THAT(failure_of(read, Code::invalid), HasSubstr(file));
  const auto read_directory = [&directory] { read_registry_credentials(directory.path()); };
  EXPECT_THAT(failure_of(read_directory, Code::invalid), HasSubstr("docker login"));
}

// What the header says, of which engines read the form for URLs with its padding.
std::string decoded(std::string header) {
  for (char& c : header) c = c == '-' ? '+' : c == '_' ? '/' : c;
  return parse_base64(header).value_or("(no base64)");
}

TEST(RegistryAuth, IsWhatEnginesRead) {
  EXPECT_EQ(registry_auth({"h:1", "tester", "right:pass", ""}),
            "eyJ1c2VybmFtZSI6InRlc3RlciIsInBhc3N3b3JkIjoicmlnaHQ6cGFzcyIsInNlcnZlcmFkZHJlc3MiOiJoOj"
            "EifQ==");
  EXPECT_EQ(decoded(registry_auth({"h:1", "tester", "right:pass", ""})),
            R"({"username":"tester","password":"right:pass","serveraddress":"h:1"})");
  EXPECT_EQ(
      decoded(registry_auth({"docker.io", "a", "", "t"})),
      R"({"username":"a","identitytoken":"t","serveraddress":"https://index.docker.io/v1/"})");
  EXPECT_EQ(decoded(registry_auth({"h:1", "", "", "t"})),
            R"({"identitytoken":"t","serveraddress":"h:1"})");
}

TEST(RegistryAuth, IsOneWordOfAHeader) {
  for (const char* password : {"\xc3\xbf\xc3\xbe\xc3\xbf", "\"\\", ">>>~~~ooo", ""}) {
    const std::string header = registry_auth({"h:1", "a", password, ""});
    EXPECT_EQ(header.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789-_="),
              std::string::npos);
    const json::value value = json::parse(decoded(header));
    EXPECT_EQ(value.at("password").as_string(), password);
  }
}

}  // namespace
}  // namespace belljar::docker
