#include "packages/npm_config.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.h"
#include "packages/testing.h"

namespace belljar::packages {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A host made up of a home directory and a prefix with Node.js and npm.
class NpmConfigTest : public testing::Test {
 protected:
  NpmConfigTest() {
    host_.home = directory_.path() + "/home";
    host_.prefixes = {directory_.path() + "/usr"};
  }
  void user(const std::string& text) { directory_.write("home/.npmrc", text); }
  void global(const std::string& text) {
    directory_.write("usr/bin/node", "", 0755);
    directory_.write("usr/etc/npmrc", text);
  }
  void variable(const std::string& name, const std::string& value) {
    host_.environment[name] = value;
  }
  NpmConfig read() { return read_npm_config(host_); }
  std::string registry() { return net::to_string(read().registry.value()); }
  std::string authorization(const std::string& url) {
    return read().credentials.authorization_for(net::parse_url(url).value());
  }

  TestDirectory directory_;
  Surroundings host_;
};

TEST_F(NpmConfigTest, TakesTheRegistryFromTheStrongestPlace) {
  global("registry=https://global.example/npm\n");
  EXPECT_EQ(registry(), "https://global.example/npm/");
  user("registry = https://user.example");
  EXPECT_EQ(registry(), "https://user.example/");
  variable("NPM_CONFIG_REGISTRY", "https://env.example/");
  EXPECT_EQ(registry(), "https://env.example/");
}

TEST_F(NpmConfigTest, TakesTheDefaultRegistryFromTheInstalledNpm) {
  const std::string npm = "usr/lib/node_modules/npm/";
  directory_.write(npm + "package.json", "{}");
  directory_.write(npm + "node_modules/@npmcli/config/lib/definitions/definitions.js",
                   "x: new Definition('x', {default: 1}),\nregistry: new Definition('registry', {\n"
                   "    default: `https://built-in.example/`,\n    type: url,\n");
  EXPECT_EQ(registry(), "https://built-in.example/");
  EXPECT_EQ(read().replaced_host, "built-in.example");
  directory_.write(npm + "npmrc", "registry=https://packaged.example/");
  EXPECT_EQ(registry(), "https://packaged.example/");
}

TEST_F(NpmConfigTest, SaysWhatToDoWithoutARegistry) {
  const NpmConfig config = read();
  try {
    config.registry_for("npm");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unavailable);
    EXPECT_THAT(error.what(), HasSubstr("npm_config_registry"));
  }
}

TEST_F(NpmConfigTest, HonoursOtherPlacesForItsFiles) {
  variable("npm_config_userconfig", directory_.write("mine", "registry=https://mine.example/"));
  EXPECT_EQ(registry(), "https://mine.example/");
  variable("npm_config_userconfig", "/nonexistent");
  variable("npm_config_globalconfig",
           directory_.write("theirs", "registry=https://theirs.example/"));
  EXPECT_EQ(registry(), "https://theirs.example/");
  host_.environment.erase("npm_config_globalconfig");
  directory_.write("prefix/etc/npmrc", "registry=https://prefix.example/");
  variable("npm_config_prefix", directory_.path() + "/prefix");
  EXPECT_EQ(registry(), "https://prefix.example/");
}

TEST_F(NpmConfigTest, KnowsTheRegistryOfAScope) {
  user("registry=https://a.example/\n@corp:registry=https://corp.example/npm/\n");
  const NpmConfig config = read();
  EXPECT_EQ(config.registry_for("@corp/x").host, "corp.example");
  EXPECT_EQ(config.registry_for("@other/x").host, "a.example");
  EXPECT_EQ(config.registry_for("x").host, "a.example");
}

TEST_F(NpmConfigTest, SendsATokenOnlyToThePlaceItIsFor) {
  variable("TOKEN", "s3cret");
  user("//a.example/npm/:_authToken=${TOKEN}\n//a.example:8443/:_authToken=other\n");
  EXPECT_EQ(authorization("https://a.example/npm/x/-/x-1.tgz?q"), "Bearer s3cret");
  EXPECT_EQ(authorization("https://a.example/npm"), "Bearer s3cret");
  EXPECT_EQ(authorization("https://a.example/"), "");
  EXPECT_EQ(authorization("https://a.example/npmx"), "");
  EXPECT_EQ(authorization("https://a.example:8443/deep/er"), "Bearer other");
  EXPECT_EQ(authorization("https://b.example/npm/x"), "");
}

TEST_F(NpmConfigTest, UnderstandsUserAndPassword) {
  user("//a.example/:_auth=bWU6cHc=\n//b.example/:username=me\n//b.example/:_password=cHc=\n");
  EXPECT_EQ(authorization("https://a.example/x"), "Basic bWU6cHc=");
  EXPECT_EQ(authorization("https://b.example/x"), "Basic bWU6cHc=");
}

TEST_F(NpmConfigTest, TakesProxiesFromTheConfigurationFirst) {
  variable("HTTPS_PROXY", "http://env.example:1");
  variable("no_proxy", "direct.example");
  EXPECT_EQ(read().http.proxy.for_https->host, "env.example");
  EXPECT_FALSE(read().http.proxy.for_http);
  EXPECT_THAT(read().http.proxy.direct, ElementsAre("direct.example"));
  user("https-proxy=proxy.example:3128\nnoproxy=a.example,b.example\n");
  EXPECT_EQ(read().http.proxy.for_https->host, "proxy.example");
  EXPECT_EQ(read().http.proxy.for_https->port, 3128);
  EXPECT_THAT(read().http.proxy.direct, ElementsAre("a.example", "b.example"));
}

TEST_F(NpmConfigTest, CollectsAuthorities) {
  const std::string first = directory_.write("home/ca.pem", "x");
  const std::string second = directory_.write("extra.pem", "x");
  user("cafile=~/ca.pem\nca[]=\"one\\ntwo\"\nca[]=three\nstrict-ssl=false\n");
  variable("NODE_EXTRA_CA_CERTS", second);
  const net::TlsSettings tls = read().http.tls;
  EXPECT_THAT(tls.ca_files, ElementsAre(first, second));
  ASSERT_EQ(tls.ca.size(), 2u);
  EXPECT_EQ(tls.ca[0].pem, "one\ntwo");
  EXPECT_EQ(tls.ca[1].pem, "three");
  EXPECT_EQ(tls.ca[1].where, "`ca` from " + directory_.path() + "/home/.npmrc");
  EXPECT_EQ(tls.verify, net::TlsSettings::Verify::no);
}

TEST_F(NpmConfigTest, IgnoresAuthorityFilesThatDoNotExistAndNullValues) {
  user("cafile=/nonexistent.pem\nproxy=null\nca=null\nhttps-proxy=false\n");
  const NpmConfig config = read();
  EXPECT_TRUE(config.http.tls.ca_files.empty());
  EXPECT_TRUE(config.http.tls.ca.empty());
  EXPECT_FALSE(config.http.proxy.for_https);
  EXPECT_EQ(config.http.tls.verify, net::TlsSettings::Verify::yes);
}

TEST_F(NpmConfigTest, NamesABadSettingAndItsSourceButNotItsValue) {
  variable("HTTPS_PROXY", "socks5://me:sesame@proxy.example");
  try {
    read();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid);
    EXPECT_THAT(error.what(), HasSubstr("HTTPS_PROXY"));
    EXPECT_THAT(error.what(), Not(HasSubstr("sesame")));
  }
}

}  // namespace
}  // namespace belljar::packages
