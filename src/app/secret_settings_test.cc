#include "app/secret_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "app/config.h"
#include "base/error.h"
#include "base/id.h"
#include "base/posix.h"

namespace belljar::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SecretSettingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(root_);
    write_file_atomically(value_, "hunter2\n");
  }
  void TearDown() override {
    ::unsetenv("BELLJAR_TEST_SECRET");
    std::filesystem::remove_all(root_);
  }
  std::vector<SecretSetting> load(const std::string& toml) const {
    write_file_atomically(file_, toml);
    return load_config({}, file_).config.secrets;
  }
  // Why a table with these lines is refused, after the name of the file and the secret.
  std::string why(const std::string& lines) const {
    const std::string expected = file_ + ": [secrets.x]: ";
    try {
      load("[secrets.x]\n" + lines);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::invalid);
      EXPECT_THAT(e.what(), ::testing::StartsWith(expected));
      return std::string{e.what()}.substr(expected.size());
    }
    return "no error";
  }
  std::string root_ =
      (std::filesystem::temp_directory_path() / ("belljar-test-" + random_hex(8))).string();
  std::string file_ = root_ + "/config.toml";
  std::string value_ = root_ + "/value";
};

TEST_F(SecretSettingsTest, HaveDefaults) {
  const auto all =
      load("[secrets.my-api]\nhosts = [\"API.test\", \"b.test:8443\"]\nvalue-file = \"" + value_ +
           "\"\n");
  ASSERT_EQ(all.size(), 1u);
  const network::Secret& secret = all[0].secret;
  EXPECT_EQ(secret.header, "Authorization");
  EXPECT_EQ(secret.variable, "MY_API");
  EXPECT_EQ(secret.placeholder(), "belljar-secret-my-api");
  const std::vector<network::Secret::Host> hosts{{"api.test", 443}, {"b.test", 8443}};
  EXPECT_EQ(secret.hosts, hosts);
  EXPECT_EQ(secret.value, "") << "before it is used";
}

TEST_F(SecretSettingsTest, AreShownWithoutTheirValue) {
  const auto all = load("[secrets.x]\nhosts = [\"a.test\"]\nvalue-file = \"" + value_ + "\"\n");
  for (const std::string& shown :
       {to_toml(all[0]), std::string{json::serialize(to_json(all[0]))}, describe(all)}) {
    EXPECT_THAT(shown, HasSubstr("a.test"));
    EXPECT_THAT(shown, Not(HasSubstr("hunter2")));
  }
  EXPECT_EQ(to_toml(load(to_toml(all[0]))[0]), to_toml(all[0]));
}

TEST_F(SecretSettingsTest, SayWhatIsWrong) {
  const std::string good = "hosts = [\"a.test\"]\nvalue-env = \"A\"\n";
  EXPECT_EQ(why(good), "no error");
  EXPECT_THAT(why("value-env = \"A\"\n"), HasSubstr("it has no hosts"));
  EXPECT_THAT(why("hosts = []\nvalue-env = \"A\"\n"), HasSubstr("it has no hosts"));
  EXPECT_THAT(why("hosts = \"a.test\"\n"), HasSubstr("must be a list"));
  EXPECT_THAT(why("hosts = [1]\n"), HasSubstr("must be a list"));
  EXPECT_THAT(why("hosts = [\"*.a.test\"]\n"), HasSubstr("one exact name"));
  EXPECT_THAT(why("hosts = [\"10.0.0.1\"]\n"), HasSubstr("one exact name"));
  EXPECT_THAT(why("hosts = [\"a.test:x\"]\n"), HasSubstr("no port"));
  EXPECT_THAT(why("hosts = [\"a.test:0\"]\n"), HasSubstr("no port"));
  EXPECT_THAT(why("hosts = [\"a.test:70000\"]\n"), HasSubstr("no port"));
  EXPECT_THAT(why("hosts = [\"a.test\"]\n"), HasSubstr("either value-file or value-env"));
  EXPECT_THAT(why(good + "value-file = \"/f\"\n"), HasSubstr("either value-file or value-env"));
  EXPECT_THAT(why(good + "value = \"hunter2\"\n"), HasSubstr("does not belong into this file"));
  EXPECT_THAT(why(good + "value = \"hunter2\"\n"), Not(HasSubstr("hunter2")));
  EXPECT_THAT(why(good + "header = \"Transfer-Encoding\"\n"), HasSubstr("cannot hold a secret"));
  EXPECT_THAT(why(good + "header = \"a b\"\n"), HasSubstr("no name of a header"));
  EXPECT_THAT(why(good + "variable = \"LD_PRELOAD\"\n"), HasSubstr("cannot have the variable"));
  EXPECT_THAT(why(good + "variable = \"1X\"\n"), HasSubstr("letters, digits"));
  EXPECT_THAT(why(good + "header = 1\n"), HasSubstr("must be a text"));
  EXPECT_THAT(why(good + "host = \"a\"\n"), HasSubstr("there is no \"host\""));
}

TEST_F(SecretSettingsTest, DoNotShareAVariable) {
  const std::string rest = "hosts = [\"a.test\"]\nvariable = \"T\"\nvalue-env = \"A\"\n";
  try {
    load("[secrets.a]\n" + rest + "[secrets.b]\n" + rest);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("secrets a and b have the same variable T"));
  }
}

TEST_F(SecretSettingsTest, TakeTheirValueFromAFileOrAVariable) {
  auto all = load("[secrets.x]\nhosts = [\"a.test\"]\nvalue-file = \"" + value_ + "\"\n");
  const auto from_file = open_secrets(all);
  EXPECT_EQ(from_file->of({"a.test", 443}).at(0)->value, "hunter2");
  EXPECT_TRUE(from_file->of({"a.test", 80}).empty());
  EXPECT_TRUE(from_file->of({"b.a.test", 443}).empty());
  ::setenv("BELLJAR_TEST_SECRET", "other", 1);
  all = load("[secrets.x]\nhosts = [\"a.test\"]\nvalue-env = \"BELLJAR_TEST_SECRET\"\n");
  EXPECT_EQ(open_secrets(all)->of({"a.test", 443}).at(0)->value, "other");
  EXPECT_EQ(open_secrets({}), nullptr);
}

TEST_F(SecretSettingsTest, RefuseAValueThatIsNone) {
  const auto all = load("[secrets.x]\nhosts = [\"a.test\"]\nvalue-file = \"" + value_ + "\"\n");
  for (const char* content : {"", "\n", "two\nlines",
                              "a\x01"
                              "b"}) {
    write_file_atomically(value_, content);
    EXPECT_THROW(open_secrets(all), Error) << content;
  }
  std::filesystem::remove(value_);
  EXPECT_THROW(open_secrets(all), Error);
}

TEST_F(SecretSettingsTest, GiveProgramsPlaceholdersForWhatTheyReach) {
  const auto secrets =
      open_secrets(load("[secrets.x]\nhosts = [\"a.test\"]\nvalue-file = \"" + value_ + "\"\n"));
  using network::Policy;
  const std::map<std::string, std::string> expected{
      {"X", "belljar-secret-x"}, {"NODE_EXTRA_CA_CERTS", network::kAuthorityPath}};
  EXPECT_EQ(secrets->variables(Policy::parse("internet")), expected);
  EXPECT_EQ(secrets->variables(Policy::parse("allow:a.test")), expected);
  EXPECT_TRUE(secrets->variables(Policy::parse("allow:b.test")).empty());
  EXPECT_TRUE(secrets->variables(Policy::parse("none")).empty());
}

}  // namespace
}  // namespace belljar::app
