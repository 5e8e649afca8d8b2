#include "app/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/id.h"
#include "base/posix.h"

namespace belljar::app {
namespace {

class ConfigTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(root_);
    write_file_atomically(file_, "");
    for (const Setting& setting : settings()) {
      for (const std::string& name : setting.environment) ::unsetenv(name.c_str());
    }
  }
  void TearDown() override {
    SetUp();
    std::filesystem::remove_all(root_);
  }
  std::string root_ =
      (std::filesystem::temp_directory_path() / ("belljar-test-" + random_hex(8))).string();
  std::string file_ = root_ + "/config.toml";
};

std::string message_of(const std::map<std::string, std::string>& flags, const std::string& file) {
  try {
    load_config(flags, file);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::invalid);
    return e.what();
  }
  return "no error";
}

TEST_F(ConfigTest, DefaultsAreThoseOfTheContract) {
  const Config config = load_config({}, file_).config;
  EXPECT_EQ(config.tools.default_limits.memory, 512u << 20);
  EXPECT_EQ(config.tools.default_limits.cpus, 1);
  EXPECT_EQ(config.tools.run_timeout, milliseconds{30000});
  EXPECT_EQ(config.sessions.lifetime, std::chrono::seconds{3600});
  EXPECT_EQ(config.tools.default_image, "node:lts-slim");
}

TEST_F(ConfigTest, FlagBeatsEnvironmentBeatsFile) {
  write_file_atomically(file_, "memory = \"64m\"\ncpus = 2.5\nrun-timeout = 111\n");
  ::setenv("SANDBOX_CPU_LIMIT", "0.5", 1);
  ::setenv("RUN_SCRIPT_TIMEOUT", "222", 1);
  const LoadedConfig loaded = load_config({{"run-timeout", "333"}}, file_);
  EXPECT_EQ(loaded.config.tools.default_limits.memory, 64u << 20);
  EXPECT_EQ(loaded.sources.at("memory"), file_ + ": memory");
  EXPECT_EQ(loaded.config.tools.default_limits.cpus, 0.5);
  EXPECT_EQ(loaded.sources.at("cpus"), "SANDBOX_CPU_LIMIT");
  EXPECT_EQ(loaded.config.tools.run_timeout, milliseconds{333});
  EXPECT_EQ(loaded.sources.at("run-timeout"), "--run-timeout");
}

TEST_F(ConfigTest, ABadValueIsAnErrorThatNamesWhereItStandsAndWhatItMayBe) {
  ::setenv("RUN_SCRIPT_TIMEOUT", "soon", 1);
  EXPECT_EQ(message_of({}, file_),
            "RUN_SCRIPT_TIMEOUT is \"soon\"; it must be a whole number of milliseconds from 1 to "
            "3600000");
  ::unsetenv("RUN_SCRIPT_TIMEOUT");
  EXPECT_EQ(message_of({{"memory", "-1"}}, file_),
            "--memory is \"-1\"; it must be a size such as 512m, 1g or a number of bytes, at least "
            "16 MiB");
  for (const char* bad : {"0", "1e9999", "nan", "", "1,5"})
    EXPECT_NE(message_of({{"cpus", bad}}, file_), "no error") << bad;
}

TEST_F(ConfigTest, ImagesMayHaveLimitsOfTheirOwn) {
  EXPECT_TRUE(load_config({}, file_).config.tools.image_limits.rules().empty());
  write_file_atomically(file_, "image-limits = \"node:20*=memory:256m\"\n");
  const Config config = load_config({}, file_).config;
  EXPECT_EQ(config.tools.image_limits.of("node:20-slim", Limits{}).memory, 256u << 20);
  for (const Setting& setting : settings()) {
    if (setting.name == "image-limits") EXPECT_EQ(setting.show(config), "node:20*=memory:256m");
  }
  ::setenv("BELLJAR_IMAGE_LIMITS", "node:20=memory:1g; node:22=ram:1g", 1);
  EXPECT_EQ(message_of({}, file_),
            "BELLJAR_IMAGE_LIMITS is \"node:20=memory:1g; node:22=ram:1g\": entry 2: \"ram\" is no "
            "limit; those there are: memory, cpus, pids, disk; it must be names of images, with * "
            "for anything, and their limits, such as node:20*=memory:256m; "
            "ghcr.io/acme/tools:*=memory:2g,cpus:2,pids:1024,disk:1g");
}

TEST_F(ConfigTest, PortsArePublishedOnAnAddress) {
  EXPECT_TRUE(load_config({}, file_).config.tools.publish_address.is_loopback());
  ::setenv("BELLJAR_PUBLISH_ADDRESS", "::", 1);
  EXPECT_EQ(load_config({}, file_).config.tools.publish_address.to_string(), "::");
  for (const char* bad : {"", "localhost", "127.0.0.1:80", "[::1]", "fe80::1%lo", "1.2.3"}) {
    EXPECT_EQ(message_of({{"publish-address", bad}}, file_),
              fmt::format("--publish-address is \"{}\"; it must be an IPv4 or IPv6 address such as "
                          "127.0.0.1, 0.0.0.0 or ::1",
                          bad));
  }
}

TEST_F(ConfigTest, RequiredFeaturesAreAListOfKnownNames) {
  EXPECT_TRUE(load_config({}, file_).config.require.empty());
  const Config config = load_config({{"require", "landlock,limits"}}, file_).config;
  EXPECT_EQ(config.require, (std::vector<std::string>{"landlock", "limits"}));
  for (const char* bad : {"landlok", "", "landlock,", "landlock, limits"}) {
    const std::string message = message_of({{"require", bad}}, file_);
    EXPECT_NE(message.find("landlock cgroup-kill"), std::string::npos) << bad << ": " << message;
  }
}

TEST_F(ConfigTest, RequiredFeaturesAreThoseOfTheDriver) {
  ::setenv("BELLJAR_DRIVER", "docker", 1);
  const Config config = load_config({{"require", "limits,runc,namespaces"}}, file_).config;
  EXPECT_EQ(config.require, (std::vector<std::string>{"limits", "runc", "namespaces"}));
  EXPECT_EQ(message_of({{"require", "limits,landlock"}}, file_),
            "--require is \"limits,landlock\"; with this driver it must be one or more, "
            "separated by commas, of linux-containers seccomp memory-limit limits swap pids-limit "
            "cpu-limit user-namespace namespaces cgroup-namespace runc");
  ::unsetenv("BELLJAR_DRIVER");
  const std::string message = message_of({{"require", "runc"}}, file_);
  EXPECT_NE(message.find("with this driver it must be"), std::string::npos) << message;
  const std::map<std::string, std::string> both{
      {"driver", "both"}, {"docker-images", "acme:*"}, {"require", "landlock,engine-runc"}};
  EXPECT_EQ(load_config(both, file_).config.require.size(), 2u);
}

TEST_F(ConfigTest, DeniedPackagesAreNames) {
  EXPECT_TRUE(load_config({}, file_).config.tools.packages.denied.empty());
  const Config config = load_config({{"packages-deny", "left-pad,@a/b"}}, file_).config;
  EXPECT_EQ(config.tools.packages.denied, (std::vector<std::string>{"left-pad", "@a/b"}));
  for (const char* bad : {"", "a b", "../x", "a,"})
    EXPECT_NE(message_of({{"packages-deny", bad}}, file_), "no error") << bad;
}

TEST_F(ConfigTest, ScriptsOfPackagesAreAllowedByName) {
  EXPECT_TRUE(load_config({}, file_).config.tools.packages.allow_scripts.empty());
  const Config config = load_config({{"packages-allow-scripts", "esbuild,@a/b"}}, file_).config;
  EXPECT_EQ(config.tools.packages.allow_scripts, (std::vector<std::string>{"esbuild", "@a/b"}));
  for (const char* bad : {"", "*", "a b", "../x", "a,"})
    EXPECT_NE(message_of({{"packages-allow-scripts", bad}}, file_), "no error") << bad;
}

TEST_F(ConfigTest, AStoreOfPackagesIsANameAndADirectoryOfItsOwn) {
  EXPECT_EQ(load_config({}, file_).config.packages_directory(), "packages");
  const Config config = load_config({{"packages-store", "test-1"}}, file_).config;
  EXPECT_EQ(config.packages_directory(), "packages-test-1");
  for (const char* bad : {"", ".", "..", "a/b", "A", "a b", "../../etc"})
    EXPECT_NE(message_of({{"packages-store", bad}}, file_), "no error") << bad;
}

TEST_F(ConfigTest, PackagesAreEverybodysUnlessTheOperatorSaysOtherwise) {
  EXPECT_FALSE(load_config({}, file_).config.serve.packages_per_owner);
  EXPECT_TRUE(load_config({{"packages-per-owner", ""}}, file_).config.serve.packages_per_owner);
  EXPECT_NE(message_of({{"packages-per-owner", "alice"}}, file_), "no error");
}

TEST_F(ConfigTest, ASwitchIsYesOrNo) {
  EXPECT_FALSE(load_config({}, file_).config.tools.packages.offline);
  for (const char* yes : {"", "yes", "true", "1"})
    EXPECT_TRUE(load_config({{"offline", yes}}, file_).config.tools.packages.offline) << yes;
  for (const char* no : {"no", "false", "0"})
    EXPECT_FALSE(load_config({{"offline", no}}, file_).config.tools.packages.offline) << no;
  EXPECT_EQ(message_of({{"offline", "maybe"}}, file_),
            "--offline is \"maybe\"; it must be yes or no");
  write_file_atomically(file_, "offline = true\n");
  EXPECT_TRUE(load_config({}, file_).config.tools.packages.offline);
}

TEST_F(ConfigTest, ATextWithANulIsNotTakenForAShorterPath) {
  write_file_atomically(file_, "files-dir = \"/srv/a\\u0000/b\"\n");
  EXPECT_NE(message_of({}, file_).find("/b\"; it must be a directory"), std::string::npos);
}

TEST_F(ConfigTest, UnknownKeysAndBrokenFilesAreErrors) {
  write_file_atomically(file_, "memroy = 1\n");
  EXPECT_NE(message_of({}, file_).find("there is no setting \"memroy\""), std::string::npos);
  write_file_atomically(file_, "memory = = 1\n");
  EXPECT_NE(message_of({}, file_).find("line 1"), std::string::npos);
}

TEST_F(ConfigTest, WhatIsShownCanBeReadBack) {
  const Config config = load_config({}, file_).config;
  for (const Setting& setting : settings()) {
    Config other = config;
    if (setting.show(config).empty()) continue;  // not set
    EXPECT_TRUE(setting.set(other, setting.show(config))) << setting.name;
  }
}

}  // namespace
}  // namespace belljar::app
